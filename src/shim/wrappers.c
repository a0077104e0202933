/* shim/wrappers.c - the C names. Each is: gate -> offer -> next, or next -> tell.
 *
 * What passes goes on with the user's own arguments; what is offered and passes goes on inside the
 * guard, so that it is offered once, whatever a tool below us makes of it. */
#include "shim/gate.h"
#include "shim/mpi_version.h"
#include "shim/names.h"
#include "shim/next.h"

#define ALL_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm
#define BLOCKS_ARGUMENTS sendbuf, recvbuf, recvcounts, datatype, op, comm
#define GATHER_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

/* The same as members of a GC_Call. */
#define ON_COMM .datatype = datatype, .comm = comm
#define REDUCE_MEMBERS .sendbuf = sendbuf, .recvbuf = recvbuf, .count = count, .op = op, ON_COMM

/* The fast half of a wrapper: a call that passes to a known function needs no stack frame.
 * Everything else is in the slow half, which has the same parameters and decides again. */
#define FAST_IF(passing, name, ...)                                                \
    do {                                                                           \
        __typeof__(&name) const next = (__typeof__(&name))known_next(NAME_##name); \
        if (next != NULL && (passing)) return next(__VA_ARGS__);                   \
        return slow_##name(__VA_ARGS__);                                           \
    } while (0)
#define FAST(name, kind, count, ...) FAST_IF(passes(kind, count), name, __VA_ARGS__)

/* This does the same for a call that may pass like the last one of its kind. */
#define FAST_AGAIN(name, kind, count, ...) \
    FAST_IF(passes(kind, count) || passes_like_last(comm, datatype, op, count), name, __VA_ARGS__)

/* `members` are those of the GC_Call, in brackets. */
#define SLOW(name, kind, count, members, ...)                                    \
    do {                                                                         \
        int code = 0;                                                            \
        const GC_Call call = {BARE members};                                     \
        const GC_Interposer_table* const core = enter(kind, count, &code);       \
        if (!offer_to(core, kind, &call, &code)) code = NEXT(name)(__VA_ARGS__); \
        leave(core);                                                             \
        return code;                                                             \
    } while (0)
#define BARE(...) __VA_ARGS__

/* Defines both halves. */
#define WRAPPER(name, kind, count, PARAMETERS, members, ...) \
    WRAPPER_BY(FAST, name, kind, count, PARAMETERS, members, __VA_ARGS__)
#define WRAPPER_BY(FAST_HALF, name, kind, count, PARAMETERS, members, ...) \
    static SLOW_HALF int slow_##name PARAMETERS {                          \
        SLOW(name, kind, count, members, __VA_ARGS__);                     \
    }                                                                      \
    int name PARAMETERS {                                                  \
        FAST_HALF(name, kind, count, __VA_ARGS__);                         \
    }

/* The wrappers of each shape (names.h). */
#define C_ALL(kind, name, Count)                                       \
    WRAPPER_BY(FAST_AGAIN, name, kind, count, (ALL_PARAMETERS(Count)), \
               (REDUCE_MEMBERS, .passed = &last_passed), ALL_ARGUMENTS)

#define C_STARTED(kind, name, Count)                                                        \
    WRAPPER_BY(FAST_AGAIN, name, kind, count, (STARTED_PARAMETERS(Count)),                  \
               (REDUCE_MEMBERS, .request = request, .passed = &last_passed), ALL_ARGUMENTS, \
               request)

#define C_SET_UP(kind, name, Count)                        \
    WRAPPER(name, kind, count, (SET_UP_PARAMETERS(Count)), \
            (REDUCE_MEMBERS, .info = info, .request = request), ALL_ARGUMENTS, info, request)

#define C_BLOCK(kind, name, Count) \
    WRAPPER(name, kind, count, (BLOCK_PARAMETERS(Count)), (REDUCE_MEMBERS), ALL_ARGUMENTS)

/* Its counts are an array as long as the communicator is large, which the core knows: only a closed
 * gate lets it pass. */
#define C_BLOCKS(kind, name, Count)                                            \
    WRAPPER(name, kind, INT64_MAX - 1, (BLOCKS_PARAMETERS(Count)),             \
            (.sendbuf = sendbuf, .recvbuf = recvbuf, .recvcounts = recvcounts, \
             .count_bytes = sizeof(Count), .op = op, ON_COMM),                 \
            BLOCKS_ARGUMENTS)

#define C_GATHER(kind, name, Count)                                                                \
    WRAPPER(name, kind, recvcount, (GATHER_PARAMETERS(Count)),                                     \
            (.sendbuf = sendbuf, .sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, \
             .count = recvcount, .datatype = recvtype, .comm = comm),                              \
            GATHER_ARGUMENTS)

#define C_FROM_ROOT(kind, name, Count)                                                           \
    WRAPPER(name, kind, count, (FROM_ROOT_PARAMETERS(Count)),                                    \
            (.recvbuf = buffer, .count = count, .root = root, ON_COMM), buffer, count, datatype, \
            root, comm)

#define C_TO_ROOT(kind, name, Count)                                                        \
    WRAPPER(name, kind, count, (TO_ROOT_PARAMETERS(Count)), (REDUCE_MEMBERS, .root = root), \
            sendbuf, recvbuf, count, datatype, op, root, comm)

int MPI_Init(int* argc, char*** argv) {
    int code = 0;
    announce_core();
    code = NEXT(MPI_Init)(argc, argv);
    if (code == 0) load_core();
    return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    int code = 0;
    announce_core();
    code = NEXT(MPI_Init_thread)(argc, argv, required, provided);
    if (code == 0) load_core();
    return code;
}

#define GC_ROW(KIND, name, lower, UPPER, SHAPE) C_##SHAPE(GC_CALL_##KIND, name, int)
GC_COLLECTIVES(GC_ROW)
#undef GC_ROW
#if GC_MPI_HAS_LARGE_COUNTS
#define GC_ROW(KIND, name, lower, UPPER, SHAPE) C_##SHAPE(GC_CALL_##KIND, name##_c, int64_t)
GC_COLLECTIVES_OF_MPI_4(GC_ROW)
#undef GC_ROW
#endif

WRAPPER(MPI_Barrier, GC_CALL_BARRIER, 0, (GC_Mpi_handle comm), (.count = 1, .comm = comm), comm)

/* The core cares for these only after it served an allreduce_init. Nothing is offered: MPI does its
 * part, and the core is told. */
static SLOW_HALF int slow_MPI_Start(void* request) {
    int code = 0;
    const GC_Interposer_table* const core = enter_loaded(1, &code);
    code = NEXT(MPI_Start)(request);
    if (core != NULL && code == 0) core->started(1, request);
    leave(core);
    return code;
}

static SLOW_HALF int slow_MPI_Startall(int count, void* requests) {
    int code = 0;
    const GC_Interposer_table* const core = enter_loaded(count, &code);
    code = NEXT(MPI_Startall)(count, requests);
    if (core != NULL && code == 0) core->started(count, requests);
    leave(core);
    return code;
}

static SLOW_HALF int slow_MPI_Request_free(void* request) {
    int code = 0;
    const GC_Interposer_table* const core = enter_loaded(1, &code);
    if (core != NULL) core->freeing(request);
    code = NEXT(MPI_Request_free)(request);
    leave(core);
    return code;
}

int MPI_Start(void* request) {
    FAST(MPI_Start, GC_CALL_START, 1, request);
}

int MPI_Startall(int count, void* requests) {
    FAST(MPI_Startall, GC_CALL_START, count, count, requests);
}

int MPI_Request_free(void* request) {
    FAST(MPI_Request_free, GC_CALL_START, 1, request);
}

/* The core cares for these while operations of ours are under way: it makes progress on the
 * program's thread. A wait then asks MPI again and again, so that both go on. `over` says whether
 * the test, whose flag is `flag`, has found what was waited for. */
#define WAIT(name, Test, PARAMETERS, TEST_ARGUMENTS, over, ...)          \
    static SLOW_HALF int slow_##name PARAMETERS {                        \
        int code = 0;                                                    \
        int flag = 0;                                                    \
        bool is_over = false;                                            \
        const GC_Interposer_table* const core = enter_completion(&code); \
        while (!is_over && goes_on(core)) {                              \
            code = NEXT(Test) TEST_ARGUMENTS;                            \
            is_over = code != 0 || (over);                               \
        }                                                                \
        (void)flag;                                                      \
        if (!is_over) code = NEXT(name)(__VA_ARGS__);                    \
        leave(core);                                                     \
        return code;                                                     \
    }                                                                    \
    int name PARAMETERS {                                                \
        FAST(name, GC_CALL_COMPLETE, 0, __VA_ARGS__);                    \
    }

/* Nobody waits in these. `found` says whether one found what it looks for. */
#define LOOK(name, PARAMETERS, found, ...)                               \
    static SLOW_HALF int slow_##name PARAMETERS {                        \
        int code = 0;                                                    \
        int repeats = FIRST_LOOK;                                        \
        const GC_Interposer_table* const core = enter_completion(&code); \
        goes_on(core);                                                   \
        do {                                                             \
            code = NEXT(name)(__VA_ARGS__);                              \
        } while (code == 0 && !(found) && looks_again(&repeats));        \
        leave(core);                                                     \
        return code;                                                     \
    }                                                                    \
    int name PARAMETERS {                                                \
        FAST_IF(look_passes(), name, __VA_ARGS__);                       \
    }

WAIT(MPI_Wait, MPI_Test, (void* request, void* status), (request, &flag, status), flag, request,
     status)
WAIT(MPI_Waitall, MPI_Testall, (int count, void* requests, void* statuses),
     (count, requests, &flag, statuses), flag, count, requests, statuses)
WAIT(MPI_Waitany, MPI_Testany, (int count, void* requests, int* index, void* status),
     (count, requests, index, &flag, status), flag, count, requests, index, status)
WAIT(MPI_Waitsome, MPI_Testsome,
     (int count, void* requests, int* outcount, int* indices, void* statuses),
     (count, requests, outcount, indices, statuses), *outcount != 0, count, requests, outcount,
     indices, statuses)
LOOK(MPI_Test, (void* request, int* flag, void* status), *flag, request, flag, status)
LOOK(MPI_Testall, (int count, void* requests, int* flag, void* statuses), *flag, count, requests,
     flag, statuses)
LOOK(MPI_Testany, (int count, void* requests, int* index, int* flag, void* status), *flag, count,
     requests, index, flag, status)
LOOK(MPI_Testsome, (int count, void* requests, int* outcount, int* indices, void* statuses),
     *outcount != 0, count, requests, outcount, indices, statuses)
LOOK(MPI_Request_get_status, (GC_Mpi_handle request, int* flag, void* status), *flag, request, flag,
     status)
LOOK(MPI_Iprobe, (int source, int tag, GC_Mpi_handle comm, int* flag, void* status), *flag, source,
     tag, comm, flag, status)
LOOK(MPI_Improbe, (int source, int tag, GC_Mpi_handle comm, int* flag, void* message, void* status),
     *flag, source, tag, comm, flag, message, status)
LOOK(MPI_Win_test, (GC_Mpi_handle window, int* flag), *flag, window, flag)

int MPI_Comm_set_info(GC_Mpi_handle comm, GC_Mpi_handle info) {
    int code = 0;
    const GC_Interposer_table* const core = enter_ungated(&code);
    code = NEXT(MPI_Comm_set_info)(comm, info);
    if (core != NULL && code == 0) core->info_was_set(comm, info);
    leave(core);
    return code;
}

/* Returns the value of an MPI_Comm in memory, which is as wide as this MPI's handles. */
static GC_Mpi_handle comm_at(const void* comm) {
    return built_for.handle_bytes == sizeof(int) ? (GC_Mpi_handle) * (const int*)comm
                                                 : *(const GC_Mpi_handle*)comm;
}

/* Defines a call that makes `newcomm` with `info`. */
#define NEW_COMM(name, PARAMETERS, ...)                                            \
    int name(PARAMETERS) {                                                         \
        int code = 0;                                                              \
        const GC_Interposer_table* const core = enter_ungated(&code);              \
        code = NEXT(name)(__VA_ARGS__);                                            \
        if (core != NULL && code == 0) core->info_was_set(comm_at(newcomm), info); \
        leave(core);                                                               \
        return code;                                                               \
    }
NEW_COMM(MPI_Comm_dup_with_info, BARE(GC_Mpi_handle comm, GC_Mpi_handle info, void* newcomm), comm,
         info, newcomm)
NEW_COMM(MPI_Comm_split_type,
         BARE(GC_Mpi_handle comm, int split_type, int key, GC_Mpi_handle info, void* newcomm), comm,
         split_type, key, info, newcomm)
NEW_COMM(MPI_Dist_graph_create, GRAPH_PARAMETERS, comm, n, sources, degrees, destinations, weights,
         info, reorder, newcomm)
NEW_COMM(MPI_Dist_graph_create_adjacent, ADJACENT_PARAMETERS, comm, indegree, sources,
         source_weights, outdegree, destinations, destination_weights, info, reorder, newcomm)
#if GC_MPI_HAS_COMMS_OF_MPI_4
NEW_COMM(MPI_Comm_create_from_group,
         BARE(GC_Mpi_handle group, const char* stringtag, GC_Mpi_handle info,
              GC_Mpi_handle errhandler, void* newcomm),
         group, stringtag, info, errhandler, newcomm)

int MPI_Comm_idup_with_info(GC_Mpi_handle comm, GC_Mpi_handle info, void* newcomm, void* request) {
    int code = 0;
    const GC_Interposer_table* const core = enter_ungated(&code);
    if (core != NULL) core->dup_begins(comm, info);
    code = NEXT(MPI_Comm_idup_with_info)(comm, info, newcomm, request);
    if (core != NULL) core->dup_has_begun(comm);
    leave(core);
    return code;
}
#endif

/* MPI declares it as (int level, ...), and only the tool that is meant knows what follows. C cannot
 * forward unknown arguments; integers and pointers that still fit into registers are forwarded as
 * they came (reading those that the caller did not set is harmless), floating-point and further
 * ones are lost. */
int MPI_Pcontrol(PCONTROL_PARAMETERS(int)) {
    int code = 0;
    const GC_Interposer_table* const core = enter_ungated(&code);
    if (core != NULL) core->pcontrol(level);
    code = ((int (*)(int, ...))next_of(NAME_MPI_Pcontrol))(level, a, b, c, d, e);
    leave(core);
    return code;
}
