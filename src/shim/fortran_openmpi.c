/* shim/fortran_openmpi.c - the Fortran names of Open MPI, whose Fortran bindings call PMPI_
 * functions, so that the C wrappers never see them. (MPICH's call the C names and need nothing
 * here.)
 *
 * As in wrappers.c a call has a fast half, which every spelling of its name holds, and a slow one,
 * which they share and which gets the called name as its last argument. A call that is left goes to
 * the next Fortran function of the same name with the user's own arguments, inside the guard: a
 * tool below that turns it into the C call comes back to our C wrapper, which lets it pass. */
#include "shim/fortran_sentinels.h"
#include "shim/gate.h"
#include "shim/names.h"
#include "shim/next.h"

#define FAST_HALF static inline __attribute__((always_inline))

/* The shapes of the calls. */
typedef void Reduce(F_REDUCE_PARAMETERS, int* ierror);
typedef void Reduce_request(F_REDUCE_PARAMETERS, int* request, int* ierror);
typedef void Reduce_init(F_REDUCE_PARAMETERS, const int* info, int* request, int* ierror);
typedef void Gather(F_GATHER_PARAMETERS, int* ierror);
typedef void Of_request(int* request, int* ierror);
typedef void Of_requests(const int* count, int* requests, int* ierror);
typedef void Set_info(const int* comm, const int* info, int* ierror);
typedef void Dup_with_info(const int* comm, const int* info, int* newcomm, int* ierror);
typedef void Pcontrol(PCONTROL_PARAMETERS(const int*));

#define F_REDUCE_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm
#define F_GATHER_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

#define FAST(Shape, kind, count, slow, ...)           \
    do {                                              \
        Shape* const next = (Shape*)known_next(name); \
        if (next != NULL && passes(kind, count)) {    \
            next(__VA_ARGS__);                        \
        } else {                                      \
            slow(__VA_ARGS__, name);                  \
        }                                             \
    } while (0)

/* `offer` is an expression with `core`, `call` and `code`: 1 if the core served the call. */
#define SLOW(Shape, kind, count, offer, ...)                               \
    do {                                                                   \
        int code = 0;                                                      \
        const GC_Interposer_table* const core = enter(kind, count, &code); \
        if (core != NULL && (offer)) {                                     \
            set(ierror, code);                                             \
        } else {                                                           \
            ((Shape*)next_of(name))(__VA_ARGS__);                          \
        }                                                                  \
        leave(core);                                                       \
    } while (0)

/* Module mpi_f08: ierror is optional, and null if it is absent. */
static void set(int* ierror, int code) {
    if (ierror != NULL) *ierror = code;
}

/* The arguments as C would have passed them. Writes `*call`, returns it. */
static const GC_Reduce_call* reduce_call(GC_Reduce_call* call, const GC_Interposer_table* core,
                                         const void* sendbuf, void* recvbuf, int count,
                                         const int* datatype, const int* op, const int* comm) {
    call->sendbuf = c_buffer(sendbuf);
    call->recvbuf = (void*)c_buffer(recvbuf);
    call->count = count;
    call->datatype = core->datatype_of_fortran(*datatype);
    call->op = core->op_of_fortran(*op);
    call->comm = core->comm_of_fortran(*comm);
    return call;
}

#define REDUCE_CALL(count) \
    reduce_call(&(GC_Reduce_call){0}, core, sendbuf, recvbuf, count, datatype, op, comm)

/* A served call made this request. MPI_Requests of Open MPI are pointers. */
static int make_request(const GC_Interposer_table* core, GC_Handle made, int* request) {
    *request = core->request_to_fortran(&made);
    return 1;
}

static SLOW_HALF void slow_allreduce(F_REDUCE_PARAMETERS, int* ierror, Name name) {
    SLOW(Reduce, GC_CALL_ALLREDUCE, *count, core->allreduce(REDUCE_CALL(*count), &code),
         F_REDUCE_ARGUMENTS, ierror);
}

FAST_HALF void mpi_allreduce_named(Name name, F_REDUCE_PARAMETERS, int* ierror) {
    FAST(Reduce, GC_CALL_ALLREDUCE, *count, slow_allreduce, F_REDUCE_ARGUMENTS, ierror);
}

static SLOW_HALF void slow_reduce_scatter_block(F_REDUCE_PARAMETERS, int* ierror, Name name) {
    SLOW(Reduce, GC_CALL_REDUCE_SCATTER_BLOCK, *count,
         core->reduce_scatter_block(REDUCE_CALL(*count), &code), F_REDUCE_ARGUMENTS, ierror);
}

FAST_HALF void mpi_reduce_scatter_block_named(Name name, F_REDUCE_PARAMETERS, int* ierror) {
    FAST(Reduce, GC_CALL_REDUCE_SCATTER_BLOCK, *count, slow_reduce_scatter_block,
         F_REDUCE_ARGUMENTS, ierror);
}

/* Here `count` is the array of counts: only a closed gate lets the call pass. */
static SLOW_HALF void slow_reduce_scatter(F_REDUCE_PARAMETERS, int* ierror, Name name) {
    SLOW(Reduce, GC_CALL_REDUCE_SCATTER, INT64_MAX - 1,
         core->reduce_scatter(REDUCE_CALL(0), count, sizeof *count, &code), F_REDUCE_ARGUMENTS,
         ierror);
}

FAST_HALF void mpi_reduce_scatter_named(Name name, F_REDUCE_PARAMETERS, int* ierror) {
    FAST(Reduce, GC_CALL_REDUCE_SCATTER, INT64_MAX - 1, slow_reduce_scatter, F_REDUCE_ARGUMENTS,
         ierror);
}

static SLOW_HALF void slow_iallreduce(F_REDUCE_PARAMETERS, int* request, int* ierror, Name name) {
    GC_Handle made;
    SLOW(Reduce_request, GC_CALL_IALLREDUCE, *count,
         core->iallreduce(REDUCE_CALL(*count), &made, &code) && make_request(core, made, request),
         F_REDUCE_ARGUMENTS, request, ierror);
}

FAST_HALF void mpi_iallreduce_named(Name name, F_REDUCE_PARAMETERS, int* request, int* ierror) {
    FAST(Reduce_request, GC_CALL_IALLREDUCE, *count, slow_iallreduce, F_REDUCE_ARGUMENTS, request,
         ierror);
}

/* MPI_Allreduce_init, or Open MPI 4's MPIX_Allreduce_init. */
static SLOW_HALF __attribute__((unused)) void slow_allreduce_init(F_REDUCE_PARAMETERS,
                                                                  const int* info, int* request,
                                                                  int* ierror, Name name) {
    GC_Handle made;
    SLOW(Reduce_init, GC_CALL_ALLREDUCE_INIT, *count,
         core->allreduce_init(REDUCE_CALL(*count), core->info_of_fortran(*info), &made, &code) &&
             make_request(core, made, request),
         F_REDUCE_ARGUMENTS, info, request, ierror);
}

FAST_HALF void mpi_allreduce_init_named(Name name, F_REDUCE_PARAMETERS, const int* info,
                                        int* request, int* ierror) {
    FAST(Reduce_init, GC_CALL_ALLREDUCE_INIT, *count, slow_allreduce_init, F_REDUCE_ARGUMENTS, info,
         request, ierror);
}
#define mpix_allreduce_init_named mpi_allreduce_init_named

static SLOW_HALF void slow_allgather(F_GATHER_PARAMETERS, int* ierror, Name name) {
    GC_Gather_call call;
    SLOW(Gather, GC_CALL_ALLGATHER, *recvcount,
         (call =
              (GC_Gather_call){c_buffer(sendbuf), *sendcount, core->datatype_of_fortran(*sendtype),
                               (void*)c_buffer(recvbuf), *recvcount,
                               core->datatype_of_fortran(*recvtype), core->comm_of_fortran(*comm)},
          core->allgather(&call, &code)),
         F_GATHER_ARGUMENTS, ierror);
}

FAST_HALF void mpi_allgather_named(Name name, F_GATHER_PARAMETERS, int* ierror) {
    FAST(Gather, GC_CALL_ALLGATHER, *recvcount, slow_allgather, F_GATHER_ARGUMENTS, ierror);
}

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

static void tell_started(const GC_Interposer_table* core, int count, const int* requests) {
    for (int i = 0; i < count; ++i) {
        const GC_Handle request = core->request_of_fortran(requests[i]);
        core->started(1, &request);
    }
}

static SLOW_HALF void slow_start(int* request, int* ierror, Name name) {
    NEXT_THEN_TELL(Of_request, enter_loaded(1, &mark), tell_started(core, 1, request), request);
}

FAST_HALF void mpi_start_named(Name name, int* request, int* ierror) {
    FAST(Of_request, GC_CALL_START, 1, slow_start, request, ierror);
}

static SLOW_HALF void slow_startall(const int* count, int* requests, int* ierror, Name name) {
    NEXT_THEN_TELL(Of_requests, enter_loaded(*count, &mark), tell_started(core, *count, requests),
                   count, requests);
}

FAST_HALF void mpi_startall_named(Name name, const int* count, int* requests, int* ierror) {
    FAST(Of_requests, GC_CALL_START, *count, slow_startall, count, requests, ierror);
}

static SLOW_HALF void slow_request_free(int* request, int* ierror, Name name) {
    int mark = 0;
    const GC_Interposer_table* const core = enter_loaded(1, &mark);
    if (core != NULL) {
        const GC_Handle doomed = core->request_of_fortran(*request);
        core->freeing(&doomed);
    }
    ((Of_request*)next_of(name))(request, ierror);
    leave(core);
}

FAST_HALF void mpi_request_free_named(Name name, int* request, int* ierror) {
    FAST(Of_request, GC_CALL_START, 1, slow_request_free, request, ierror);
}

static SLOW_HALF void mpi_comm_set_info_named(Name name, const int* comm, const int* info,
                                              int* ierror) {
    NEXT_THEN_TELL(Set_info, enter_ungated(&mark),
                   core->info_was_set(core->comm_of_fortran(*comm), core->info_of_fortran(*info)),
                   comm, info);
}

static SLOW_HALF void mpi_comm_dup_with_info_named(Name name, const int* comm, const int* info,
                                                   int* newcomm, int* ierror) {
    NEXT_THEN_TELL(
        Dup_with_info, enter_ungated(&mark),
        core->info_was_set(core->comm_of_fortran(*newcomm), core->info_of_fortran(*info)), comm,
        info, newcomm);
}

/* No ierror, and as many more arguments as some tool below takes; see MPI_Pcontrol. */
static SLOW_HALF void mpi_pcontrol_named(Name name, PCONTROL_PARAMETERS(const int*)) {
    int mark = 0;
    const GC_Interposer_table* const core = enter_ungated(&mark);
    if (core != NULL) core->pcontrol(*level);
    ((Pcontrol*)next_of(name))(level, a, b, c, d, e);
    leave(core);
}

/* And now every spelling of every name. The rows of names.def hold parameters with their types;
 * these are the same as arguments. */
#define ARGUMENTS_mpi_allreduce F_REDUCE_ARGUMENTS, ierror
#define ARGUMENTS_mpi_iallreduce F_REDUCE_ARGUMENTS, request, ierror
#define ARGUMENTS_mpi_reduce_scatter_block F_REDUCE_ARGUMENTS, ierror
#define ARGUMENTS_mpi_reduce_scatter F_REDUCE_ARGUMENTS, ierror
#define ARGUMENTS_mpi_allgather F_GATHER_ARGUMENTS, ierror
#define ARGUMENTS_mpi_start request, ierror
#define ARGUMENTS_mpi_startall count, requests, ierror
#define ARGUMENTS_mpi_request_free request, ierror
#define ARGUMENTS_mpi_comm_set_info comm, info, ierror
#define ARGUMENTS_mpi_comm_dup_with_info comm, info, newcomm, ierror
#define ARGUMENTS_mpi_pcontrol level, a, b, c, d, e
#define ARGUMENTS_mpi_allreduce_init F_REDUCE_ARGUMENTS, info, request, ierror
#define ARGUMENTS_mpix_allreduce_init F_REDUCE_ARGUMENTS, info, request, ierror

#define DEFINE(spelling, lower, ...)                       \
    void spelling(__VA_ARGS__) {                           \
        lower##_named(NAME_##spelling, ARGUMENTS_##lower); \
    }
#define GC_C(name, ...)
#define GC_FORTRAN(lower, UPPER, ...) GC_MANGLINGS(DEFINE, lower, UPPER, lower, __VA_ARGS__)
#include "shim/names.def"
