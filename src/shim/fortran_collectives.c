/* shim/fortran_collectives.c - the collectives under their Fortran names, for Open MPI, whose
 * Fortran bindings call PMPI_ functions, so that the C wrappers never see them. (MPICH's call the C
 * names.)
 *
 * A call that passes goes to the next Fortran function with the user's own arguments, inside the
 * guard: a tool below that turns it into the C call comes back to our C wrapper, which lets it
 * pass. */
#include "shim/fortran.h"
#include "shim/fortran_buffers.h"
#include "shim/fortran_offers.h"

#define F_REDUCE_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm
#define F_GATHER_ARGUMENTS sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm

/* `offer` is an expression with `core`, `made` and `code`: 1 if the core served the call. */
#define SLOW(Shape, kind, count, offer, ...)                               \
    do {                                                                   \
        int code = 0;                                                      \
        GC_Mpi_handle made = 0; /* a request, where there is one */        \
        const GC_Interposer_table* const core = enter(kind, count, &code); \
        (void)made;                                                        \
        F_END(Shape, core != NULL && (offer), __VA_ARGS__);                \
    } while (0)

#define WRAPPER(MANGLINGS, lower, UPPER, kind, count, PARAMETERS, ARGUMENTS, offer)        \
    GC_DEFINE_CALL_AS(MANGLINGS, lower, UPPER, passes(kind, count), PARAMETERS, ARGUMENTS, \
                      SLOW(Of_##lower, kind, count, offer, GC_BARE ARGUMENTS))

#define REDUCE_MEMBERS F_REDUCE_MEMBERS(c_buffer(sendbuf), c_buffer(recvbuf))

#define ALLREDUCE(MANGLINGS, lower, UPPER, Count)                                    \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_ALLREDUCE, *count,                      \
            (F_REDUCE_PARAMETERS(Count), int* ierror), (F_REDUCE_ARGUMENTS, ierror), \
            OFFER_ALLREDUCE)

#define REDUCE_SCATTER_BLOCK(MANGLINGS, lower, UPPER, Count)                         \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_REDUCE_SCATTER_BLOCK, *count,           \
            (F_REDUCE_PARAMETERS(Count), int* ierror), (F_REDUCE_ARGUMENTS, ierror), \
            OFFER_REDUCE_SCATTER_BLOCK)

/* Here `count` is the array of counts: only a closed gate lets the call pass. */
#define REDUCE_SCATTER(MANGLINGS, lower, UPPER, Count)                               \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_REDUCE_SCATTER, INT64_MAX - 1,          \
            (F_REDUCE_PARAMETERS(Count), int* ierror), (F_REDUCE_ARGUMENTS, ierror), \
            OFFER_REDUCE_SCATTER)

#define IALLREDUCE(MANGLINGS, lower, UPPER, Count)                   \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_IALLREDUCE, *count,     \
            (F_REDUCE_PARAMETERS(Count), int* request, int* ierror), \
            (F_REDUCE_ARGUMENTS, request, ierror), OFFER_IALLREDUCE)

#define ALLREDUCE_INIT(MANGLINGS, lower, UPPER, Count)                                \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_ALLREDUCE_INIT, *count,                  \
            (F_REDUCE_PARAMETERS(Count), const int* info, int* request, int* ierror), \
            (F_REDUCE_ARGUMENTS, info, request, ierror), OFFER_ALLREDUCE_INIT)

/* No buffer of a broadcast is in place, but it may be MPI_BOTTOM. */
#define BCAST(MANGLINGS, lower, UPPER, Count)               \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_BCAST, *count, \
            (F_BCAST_PARAMETERS(Count), int* ierror),       \
            (buffer, count, datatype, root, comm, ierror),  \
            F_OFFER(GC_CALL_BCAST, F_BCAST_MEMBERS(c_buffer(buffer))))

#define REDUCE(MANGLINGS, lower, UPPER, Count)               \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_REDUCE, *count, \
            (F_TO_ROOT_PARAMETERS(Count), int* ierror),      \
            (sendbuf, recvbuf, count, datatype, op, root, comm, ierror), OFFER_REDUCE)

#define ALLGATHER(MANGLINGS, lower, UPPER, Count)                                    \
    WRAPPER(MANGLINGS, lower, UPPER, GC_CALL_ALLGATHER, *recvcount,                  \
            (F_GATHER_PARAMETERS(Count), int* ierror), (F_GATHER_ARGUMENTS, ierror), \
            F_OFFER(GC_CALL_ALLGATHER, F_GATHER_MEMBERS(c_buffer(sendbuf), c_buffer(recvbuf))))

ALLREDUCE(GC_MANGLINGS, mpi_allreduce, MPI_ALLREDUCE, int)
IALLREDUCE(GC_MANGLINGS, mpi_iallreduce, MPI_IALLREDUCE, int)
REDUCE_SCATTER_BLOCK(GC_MANGLINGS, mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK, int)
REDUCE_SCATTER(GC_MANGLINGS, mpi_reduce_scatter, MPI_REDUCE_SCATTER, int)
BCAST(GC_MANGLINGS, mpi_bcast, MPI_BCAST, int)
REDUCE(GC_MANGLINGS, mpi_reduce, MPI_REDUCE, int)
ALLGATHER(GC_MANGLINGS, mpi_allgather, MPI_ALLGATHER, int)
#if GC_MPI_HAS_ALLREDUCE_INIT
ALLREDUCE_INIT(GC_MANGLINGS, mpi_allreduce_init, MPI_ALLREDUCE_INIT, int)
#endif
#if GC_MPI_HAS_MPIX_ALLREDUCE_INIT /* Open MPI 4's */
ALLREDUCE_INIT(GC_MANGLINGS, mpix_allreduce_init, MPIX_ALLREDUCE_INIT, int)
#endif

#if GC_MPI_HAS_DESCRIPTORS /* large counts, as an Open MPI without descriptors has them */
#define LARGE GC_PLAIN_MANGLINGS
ALLREDUCE(LARGE, mpi_allreduce_c_f08, MPI_ALLREDUCE_C_F08, int64_t)
IALLREDUCE(LARGE, mpi_iallreduce_c_f08, MPI_IALLREDUCE_C_F08, int64_t)
ALLREDUCE_INIT(LARGE, mpi_allreduce_init_c_f08, MPI_ALLREDUCE_INIT_C_F08, int64_t)
REDUCE_SCATTER_BLOCK(LARGE, mpi_reduce_scatter_block_c_f08, MPI_REDUCE_SCATTER_BLOCK_C_F08, int64_t)
REDUCE_SCATTER(LARGE, mpi_reduce_scatter_c_f08, MPI_REDUCE_SCATTER_C_F08, int64_t)
BCAST(LARGE, mpi_bcast_c_f08, MPI_BCAST_C_F08, int64_t)
REDUCE(LARGE, mpi_reduce_c_f08, MPI_REDUCE_C_F08, int64_t)
ALLGATHER(LARGE, mpi_allgather_c_f08, MPI_ALLGATHER_C_F08, int64_t)
#endif
