/* shim/fortran_requests.c - MPI_Init, starting and freeing requests, info of communicators,
 * MPI_Barrier and MPI_Pcontrol under the Fortran names that do not lead to the C ones: all of Open
 * MPI's, and those of MPICH's module mpi_f08. */
#include "shim/fortran.h"
#include "shim/mpi_version.h"

typedef void Set_info(const int* comm, const int* info, int* ierror);
typedef void Pcontrol(PCONTROL_PARAMETERS(const int*));

/* MPI does its part and the core is told, if MPI succeeded; `code` gets what MPI says even where
 * the user does not want to know. */
#define NEXT_THEN_TELL(Shape, entered, tell, ...)          \
    do {                                                   \
        int mark = 0;                                      \
        int* const code = ierror != NULL ? ierror : &mark; \
        const GC_Interposer_table* const core = entered;   \
        ((Shape*)next_of(name))(__VA_ARGS__, code);        \
        if (core != NULL && *code == 0) tell;              \
        leave(core);                                       \
    } while (0)

typedef void Init(int* ierror);
typedef void Init_thread(const int* required, int* provided, int* ierror);

static SLOW_HALF void mpi_init_named(Name name, int* ierror) {
    int mark = 0;
    int* const code = ierror != NULL ? ierror : &mark;
    announce_core();
    ((Init*)next_of(name))(code);
    if (*code == 0) load_core();
}
DEFINE_SPELLINGS(GC_MANGLINGS, mpi_init, MPI_INIT, mpi_init_named, (ierror), int* ierror)

static SLOW_HALF void mpi_init_thread_named(Name name, const int* required, int* provided,
                                            int* ierror) {
    int mark = 0;
    int* const code = ierror != NULL ? ierror : &mark;
    announce_core();
    ((Init_thread*)next_of(name))(required, provided, code);
    if (*code == 0) load_core();
}
DEFINE_SPELLINGS(GC_MANGLINGS, mpi_init_thread, MPI_INIT_THREAD, mpi_init_thread_named,
                 (required, provided, ierror), const int* required, int* provided, int* ierror)

/* A C_request has the bytes of an MPI_Request of C. */
typedef union {
    GC_Mpi_handle pointer;
    int number;
} C_request;

static C_request c_request(const GC_Interposer_table* core, int fortran) {
    const GC_Mpi_handle handle = core->request_of_fortran(fortran);
    C_request request = {.pointer = handle};
    if (built_for.handle_bytes == sizeof(int)) request.number = (int)handle;
    return request;
}

static void tell_started(const GC_Interposer_table* core, int count, const int* requests) {
    for (int i = 0; i < count; ++i) {
        const C_request request = c_request(core, requests[i]);
        core->started(1, &request);
    }
}

GC_DEFINE_CALL(mpi_start, MPI_START, passes(GC_CALL_START, 1), (int* request, int* ierror),
               (request, ierror),
               NEXT_THEN_TELL(Of_mpi_start, enter_loaded(1, &mark), tell_started(core, 1, request),
                              request))

GC_DEFINE_CALL(mpi_startall, MPI_STARTALL, passes(GC_CALL_START, *count),
               (const int* count, int* requests, int* ierror), (count, requests, ierror),
               NEXT_THEN_TELL(Of_mpi_startall, enter_loaded(*count, &mark),
                              tell_started(core, *count, requests), count, requests))

static void tell_freeing(const GC_Interposer_table* core, int request) {
    const C_request doomed = c_request(core, request);
    core->freeing(&doomed);
}

GC_DEFINE_CALL(mpi_request_free, MPI_REQUEST_FREE, passes(GC_CALL_START, 1),
               (int* request, int* ierror), (request, ierror), {
                   int mark = 0;
                   const GC_Interposer_table* const core = enter_loaded(1, &mark);
                   if (core != NULL) tell_freeing(core, *request);
                   ((Of_mpi_request_free*)next_of(name))(request, ierror);
                   leave(core);
               })

/* Completion works as in wrappers.c: a wait asks the test of the same spelling. */
#if GC_OPENMPI_FORTRAN
#define FIRST_SPELLING(lower) NAME_##lower
#else
#define FIRST_SPELLING(lower) NAME_##lower##_f08
#endif

#define LOOK(lower, UPPER, PARAMETERS, ARGUMENTS, found)                                \
    GC_DEFINE_CALL(lower, UPPER, look_passes(), (GC_BARE PARAMETERS, int* ierror),      \
                   (GC_BARE ARGUMENTS, ierror), {                                       \
                       int code = 0;                                                    \
                       int repeats = FIRST_LOOK;                                        \
                       const GC_Interposer_table* const core = enter_completion(&code); \
                       goes_on(core);                                                   \
                       do {                                                             \
                           ((Of_##lower*)next_of(name))(GC_BARE ARGUMENTS, &code);      \
                       } while (code == 0 && !(found) && looks_again(&repeats));        \
                       if (ierror != NULL) *ierror = code;                              \
                       leave(core);                                                     \
                   })

#define WAIT(lower, UPPER, test, PARAMETERS, ARGUMENTS, TEST_ARGUMENTS, over)          \
    GC_DEFINE_CALL(lower, UPPER, passes(GC_CALL_COMPLETE, 0), PARAMETERS, ARGUMENTS, { \
        int code = 0;                                                                  \
        int flag = 0;                                                                  \
        bool is_over = false;                                                          \
        const Name asked = name - FIRST_SPELLING(lower) + FIRST_SPELLING(test);        \
        const GC_Interposer_table* const core = enter_completion(&code);               \
        while (!is_over && goes_on(core)) {                                            \
            ((Of_##test*)next_of(asked)) TEST_ARGUMENTS;                               \
            is_over = code != 0 || (over);                                             \
        }                                                                              \
        (void)flag;                                                                    \
        if (!is_over)                                                                  \
            ((Of_##lower*)next_of(name))(GC_BARE ARGUMENTS);                           \
        else if (ierror != NULL)                                                       \
            *ierror = code;                                                            \
        leave(core);                                                                   \
    })

LOOK(mpi_test, MPI_TEST, (int* request, int* flag, void* status), (request, flag, status), *flag)
LOOK(mpi_testall, MPI_TESTALL, (const int* count, int* requests, int* flag, void* statuses),
     (count, requests, flag, statuses), *flag)
LOOK(mpi_testany, MPI_TESTANY,
     (const int* count, int* requests, int* index, int* flag, void* status),
     (count, requests, index, flag, status), *flag)
LOOK(mpi_testsome, MPI_TESTSOME,
     (const int* count, int* requests, int* outcount, int* indices, void* statuses),
     (count, requests, outcount, indices, statuses), *outcount != 0)
LOOK(mpi_request_get_status, MPI_REQUEST_GET_STATUS, (const int* request, int* flag, void* status),
     (request, flag, status), *flag)
LOOK(mpi_iprobe, MPI_IPROBE,
     (const int* source, const int* tag, const int* comm, int* flag, void* status),
     (source, tag, comm, flag, status), *flag)
LOOK(mpi_improbe, MPI_IMPROBE,
     (const int* source, const int* tag, const int* comm, int* flag, int* message, void* status),
     (source, tag, comm, flag, message, status), *flag)
LOOK(mpi_win_test, MPI_WIN_TEST, (const int* window, int* flag), (window, flag), *flag)
WAIT(mpi_wait, MPI_WAIT, mpi_test, (int* request, void* status, int* ierror),
     (request, status, ierror), (request, &flag, status, &code), flag)
WAIT(mpi_waitall, MPI_WAITALL, mpi_testall,
     (const int* count, int* requests, void* statuses, int* ierror),
     (count, requests, statuses, ierror), (count, requests, &flag, statuses, &code), flag)
WAIT(mpi_waitany, MPI_WAITANY, mpi_testany,
     (const int* count, int* requests, int* index, void* status, int* ierror),
     (count, requests, index, status, ierror), (count, requests, index, &flag, status, &code), flag)
WAIT(mpi_waitsome, MPI_WAITSOME, mpi_testsome,
     (const int* count, int* requests, int* outcount, int* indices, void* statuses, int* ierror),
     (count, requests, outcount, indices, statuses, ierror),
     (count, requests, outcount, indices, statuses, &code), *outcount != 0)

static SLOW_HALF void mpi_comm_set_info_named(Name name, const int* comm, const int* info,
                                              int* ierror) {
    NEXT_THEN_TELL(Set_info, enter_ungated(&mark),
                   core->info_was_set(core->comm_of_fortran(*comm), core->info_of_fortran(*info)),
                   comm, info);
}
DEFINE_SPELLINGS(GC_MANGLINGS, mpi_comm_set_info, MPI_COMM_SET_INFO, mpi_comm_set_info_named,
                 (comm, info, ierror), const int* comm, const int* info, int* ierror)

/* Defines a call that makes `newcomm` with `info`; the lists stand in brackets, `ierror` in none.
 */
#define NEW_COMM(lower, UPPER, PARAMETERS, ARGUMENTS)                                          \
    typedef void Of_##lower(GC_BARE PARAMETERS, int* ierror);                                  \
    static SLOW_HALF void lower##_named(Name name, GC_BARE PARAMETERS, int* ierror) {          \
        NEXT_THEN_TELL(                                                                        \
            Of_##lower, enter_ungated(&mark),                                                  \
            core->info_was_set(core->comm_of_fortran(*newcomm), core->info_of_fortran(*info)), \
            GC_BARE ARGUMENTS);                                                                \
    }                                                                                          \
    DEFINE_SPELLINGS(GC_MANGLINGS, lower, UPPER, lower##_named, (GC_BARE ARGUMENTS, ierror),   \
                     GC_BARE PARAMETERS, int* ierror)

NEW_COMM(mpi_comm_dup_with_info, MPI_COMM_DUP_WITH_INFO,
         (const int* comm, const int* info, int* newcomm), (comm, info, newcomm))
NEW_COMM(mpi_comm_split_type, MPI_COMM_SPLIT_TYPE,
         (const int* comm, const int* split_type, const int* key, const int* info, int* newcomm),
         (comm, split_type, key, info, newcomm))
NEW_COMM(mpi_dist_graph_create, MPI_DIST_GRAPH_CREATE, (F_GRAPH_PARAMETERS),
         (comm, n, sources, degrees, destinations, weights, info, reorder, newcomm))
NEW_COMM(mpi_dist_graph_create_adjacent, MPI_DIST_GRAPH_CREATE_ADJACENT, (F_ADJACENT_PARAMETERS),
         (comm, indegree, sources, source_weights, outdegree, destinations, destination_weights,
          info, reorder, newcomm))

#if GC_MPI_HAS_COMMS_OF_MPI_4
typedef void Idup_with_info(const int* comm, const int* info, int* newcomm, int* request,
                            int* ierror);

static SLOW_HALF void mpi_comm_idup_with_info_named(Name name, const int* comm, const int* info,
                                                    int* newcomm, int* request, int* ierror) {
    int mark = 0;
    const GC_Interposer_table* const core = enter_ungated(&mark);
    if (core != NULL) {
        core->dup_begins(core->comm_of_fortran(*comm), core->info_of_fortran(*info));
    }
    ((Idup_with_info*)next_of(name))(comm, info, newcomm, request, ierror);
    if (core != NULL) core->dup_has_begun(core->comm_of_fortran(*comm));
    leave(core);
}
DEFINE_SPELLINGS(GC_MANGLINGS, mpi_comm_idup_with_info, MPI_COMM_IDUP_WITH_INFO,
                 mpi_comm_idup_with_info_named, (comm, info, newcomm, request, ierror),
                 const int* comm, const int* info, int* newcomm, int* request, int* ierror)

typedef void From_group(F_FROM_GROUP_PARAMETERS);

static SLOW_HALF void mpi_comm_create_from_group_named(Name name, F_FROM_GROUP_PARAMETERS) {
    int mark = 0;
    int* const code = ierror != NULL ? ierror : &mark;
    const GC_Interposer_table* const core = enter_ungated(&mark);
    ((From_group*)next_of(name))(group, stringtag, info, errhandler, newcomm, code, length);
    if (core != NULL && *code == 0)
        core->info_was_set(core->comm_of_fortran(*newcomm), core->info_of_fortran(*info));
    leave(core);
}
DEFINE_SPELLINGS(GC_MANGLINGS, mpi_comm_create_from_group, MPI_COMM_CREATE_FROM_GROUP,
                 mpi_comm_create_from_group_named,
                 (group, stringtag, info, errhandler, newcomm, ierror, length),
                 F_FROM_GROUP_PARAMETERS)
#endif

GC_DEFINE_CALL(mpi_barrier, MPI_BARRIER, passes(GC_CALL_BARRIER, 0), (const int* comm, int* ierror),
               (comm, ierror), {
                   int code = 0;
                   const GC_Interposer_table* const core = enter(GC_CALL_BARRIER, 0, &code);
                   if (core == NULL ||
                       !offer_to(core, GC_CALL_BARRIER,
                                 &(GC_Call){.count = 1, .comm = core->comm_of_fortran(*comm)},
                                 &code)) {
                       ((Of_mpi_barrier*)next_of(name))(comm, ierror);
                   } else if (ierror != NULL) {
                       *ierror = code;
                   }
                   leave(core);
               })

/* This has no ierror, and as many more arguments as some tool below takes; see MPI_Pcontrol. */
static SLOW_HALF void mpi_pcontrol_named(Name name, PCONTROL_PARAMETERS(const int*)) {
    int mark = 0;
    const GC_Interposer_table* const core = enter_ungated(&mark);
    if (core != NULL) core->pcontrol(*level);
    ((Pcontrol*)next_of(name))(level, a, b, c, d, e);
    leave(core);
}
DEFINE_SPELLINGS(GC_MANGLINGS, mpi_pcontrol, MPI_PCONTROL, mpi_pcontrol_named,
                 (level, a, b, c, d, e), PCONTROL_PARAMETERS(const int*))
