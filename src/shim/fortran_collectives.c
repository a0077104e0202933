/* shim/fortran_collectives.c - the collectives under their Fortran names, for Open MPI, whose
 * Fortran bindings call PMPI_ functions, so that the C wrappers never see them. (MPICH's call the C
 * names.)
 *
 * A call that passes goes to the next Fortran function with the user's own arguments, inside the
 * guard: a tool below that turns it into the C call comes back to our C wrapper, which lets it
 * pass. */
#include "shim/fortran.h"
#include "shim/fortran_sentinels.h"

#define F_REDUCE_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm
#define F_GATHER_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

/* `offer` is an expression with `core`, `made` and `code`: 1 if the core served the call. */
#define SLOW(Shape, kind, count, offer, ...)                               \
    do {                                                                   \
        int code = 0;                                                      \
        GC_Mpi_handle made = 0; /* a request, where there is one */        \
        const GC_Interposer_table* const core = enter(kind, count, &code); \
        (void)made;                                                        \
        if (core != NULL && (offer)) {                                     \
            set(ierror, code);                                             \
        } else {                                                           \
            ((Shape*)next_of(name))(__VA_ARGS__);                          \
        }                                                                  \
        leave(core);                                                       \
    } while (0)

#define WRAPPER(lower, UPPER, kind, count, PARAMETERS, ARGUMENTS, offer) \
    GC_DEFINE_CALL(lower, UPPER, kind, count, PARAMETERS, ARGUMENTS,     \
                   SLOW(Of_##lower, kind, count, offer, GC_BARE ARGUMENTS))

/* In module mpi_f08 ierror is optional, and null if it is absent. */
static void set(int* ierror, int code) {
    if (ierror != NULL) *ierror = code;
}

/* These are the arguments as C would have passed them. */
#define REDUCE_CALL(elements)                                                          \
    (&(GC_Reduce_call){c_buffer(sendbuf), (void*)c_buffer(recvbuf), elements,          \
                       core->datatype_of_fortran(*datatype), core->op_of_fortran(*op), \
                       core->comm_of_fortran(*comm)})
#define GATHER_CALL                                                                                \
    (&(GC_Gather_call){c_buffer(sendbuf), *sendcount, core->datatype_of_fortran(*sendtype),        \
                       (void*)c_buffer(recvbuf), *recvcount, core->datatype_of_fortran(*recvtype), \
                       core->comm_of_fortran(*comm)})

static int offer_allreduce(const GC_Interposer_table* core, const GC_Reduce_call* call, int* code) {
    if (passes_like_last(call->comm, call->datatype, call->op, call->count)) return 0;
    return core->allreduce(call, &last_passed, code);
}

/* A served call made this request. MPI_Requests of Open MPI are pointers. */
static int make_request(const GC_Interposer_table* core, GC_Mpi_handle made, int* request) {
    *request = core->request_to_fortran(&made);
    return 1;
}

WRAPPER(mpi_allreduce, MPI_ALLREDUCE, GC_CALL_ALLREDUCE, *count, (F_REDUCE_PARAMETERS, int* ierror),
        (F_REDUCE_ARGUMENTS, ierror), offer_allreduce(core, REDUCE_CALL(*count), &code))

WRAPPER(mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK, GC_CALL_REDUCE_SCATTER_BLOCK, *count,
        (F_REDUCE_PARAMETERS, int* ierror), (F_REDUCE_ARGUMENTS, ierror),
        core->reduce_scatter_block(REDUCE_CALL(*count), &code))

/* Here `count` is the array of counts: only a closed gate lets the call pass. */
WRAPPER(mpi_reduce_scatter, MPI_REDUCE_SCATTER, GC_CALL_REDUCE_SCATTER, INT64_MAX - 1,
        (F_REDUCE_PARAMETERS, int* ierror), (F_REDUCE_ARGUMENTS, ierror),
        core->reduce_scatter(REDUCE_CALL(0), count, sizeof *count, &code))

WRAPPER(mpi_iallreduce, MPI_IALLREDUCE, GC_CALL_IALLREDUCE, *count,
        (F_REDUCE_PARAMETERS, int* request, int* ierror), (F_REDUCE_ARGUMENTS, request, ierror),
        core->iallreduce(REDUCE_CALL(*count), &last_passed, &made, &code) &&
            make_request(core, made, request))

#define ALLREDUCE_INIT(lower, UPPER)                                                             \
    WRAPPER(                                                                                     \
        lower, UPPER, GC_CALL_ALLREDUCE_INIT, *count,                                            \
        (F_REDUCE_PARAMETERS, const int* info, int* request, int* ierror),                       \
        (F_REDUCE_ARGUMENTS, info, request, ierror),                                             \
        core->allreduce_init(REDUCE_CALL(*count), core->info_of_fortran(*info), &made, &code) && \
            make_request(core, made, request))

#if GC_MPI_HAS_ALLREDUCE_INIT
ALLREDUCE_INIT(mpi_allreduce_init, MPI_ALLREDUCE_INIT)
#endif
#if GC_MPI_HAS_MPIX_ALLREDUCE_INIT /* Open MPI 4's */
ALLREDUCE_INIT(mpix_allreduce_init, MPIX_ALLREDUCE_INIT)
#endif

/* No buffer of a broadcast is in place, but it may be MPI_BOTTOM. */
WRAPPER(mpi_bcast, MPI_BCAST, GC_CALL_BCAST, *count, (F_BCAST_PARAMETERS, int* ierror),
        (buffer, count, datatype, root, comm, ierror),
        core->bcast(&(GC_Bcast_call){(void*)c_buffer(buffer), *count,
                                     core->datatype_of_fortran(*datatype), *root,
                                     core->comm_of_fortran(*comm)},
                    &code))

WRAPPER(mpi_reduce, MPI_REDUCE, GC_CALL_REDUCE, *count, (F_TO_ROOT_PARAMETERS, int* ierror),
        (sendbuf, recvbuf, count, datatype, op, root, comm, ierror),
        core->reduce(REDUCE_CALL(*count), *root, &code))

WRAPPER(mpi_allgather, MPI_ALLGATHER, GC_CALL_ALLGATHER, *recvcount,
        (F_GATHER_PARAMETERS, int* ierror), (F_GATHER_ARGUMENTS, ierror),
        core->allgather(GATHER_CALL, &code))
