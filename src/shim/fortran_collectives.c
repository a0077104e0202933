/* shim/fortran_collectives.c - the collectives under their Fortran names, for Open MPI, whose
 * Fortran bindings call PMPI_ functions, so that the C wrappers never see them. (MPICH's call the C
 * names.)
 *
 * A call that passes goes to the next Fortran function with the user's own arguments, inside the
 * guard: a tool below that turns it into the C call comes back to our C wrapper, which lets it
 * pass. */
#include "shim/fortran.h"
#include "shim/fortran_sentinels.h"

typedef void Reduce(F_REDUCE_PARAMETERS, int* ierror);
typedef void Reduce_request(F_REDUCE_PARAMETERS, int* request, int* ierror);
typedef void Reduce_init(F_REDUCE_PARAMETERS, const int* info, int* request, int* ierror);
typedef void Gather(F_GATHER_PARAMETERS, int* ierror);

#define F_REDUCE_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm
#define F_GATHER_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

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
DEFINE_SPELLINGS(mpi_allreduce, MPI_ALLREDUCE, mpi_allreduce_named, (F_REDUCE_ARGUMENTS, ierror),
                 F_REDUCE_PARAMETERS, int* ierror)

static SLOW_HALF void slow_reduce_scatter_block(F_REDUCE_PARAMETERS, int* ierror, Name name) {
    SLOW(Reduce, GC_CALL_REDUCE_SCATTER_BLOCK, *count,
         core->reduce_scatter_block(REDUCE_CALL(*count), &code), F_REDUCE_ARGUMENTS, ierror);
}

FAST_HALF void mpi_reduce_scatter_block_named(Name name, F_REDUCE_PARAMETERS, int* ierror) {
    FAST(Reduce, GC_CALL_REDUCE_SCATTER_BLOCK, *count, slow_reduce_scatter_block,
         F_REDUCE_ARGUMENTS, ierror);
}
DEFINE_SPELLINGS(mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK, mpi_reduce_scatter_block_named,
                 (F_REDUCE_ARGUMENTS, ierror), F_REDUCE_PARAMETERS, int* ierror)

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
DEFINE_SPELLINGS(mpi_reduce_scatter, MPI_REDUCE_SCATTER, mpi_reduce_scatter_named,
                 (F_REDUCE_ARGUMENTS, ierror), F_REDUCE_PARAMETERS, int* ierror)

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
DEFINE_SPELLINGS(mpi_iallreduce, MPI_IALLREDUCE, mpi_iallreduce_named,
                 (F_REDUCE_ARGUMENTS, request, ierror), F_REDUCE_PARAMETERS, int* request,
                 int* ierror)

/* MPI_Allreduce_init, and Open MPI 4's MPIX_Allreduce_init. */
#if GC_MPI_HAS_ALLREDUCE_INIT || GC_MPI_HAS_MPIX_ALLREDUCE_INIT
static SLOW_HALF void slow_allreduce_init(F_REDUCE_PARAMETERS, const int* info, int* request,
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
#endif
#if GC_MPI_HAS_ALLREDUCE_INIT
DEFINE_SPELLINGS(mpi_allreduce_init, MPI_ALLREDUCE_INIT, mpi_allreduce_init_named,
                 (F_REDUCE_ARGUMENTS, info, request, ierror), F_REDUCE_PARAMETERS, const int* info,
                 int* request, int* ierror)
#endif
#if GC_MPI_HAS_MPIX_ALLREDUCE_INIT
DEFINE_SPELLINGS(mpix_allreduce_init, MPIX_ALLREDUCE_INIT, mpi_allreduce_init_named,
                 (F_REDUCE_ARGUMENTS, info, request, ierror), F_REDUCE_PARAMETERS, const int* info,
                 int* request, int* ierror)
#endif

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
DEFINE_SPELLINGS(mpi_allgather, MPI_ALLGATHER, mpi_allgather_named, (F_GATHER_ARGUMENTS, ierror),
                 F_GATHER_PARAMETERS, int* ierror)
