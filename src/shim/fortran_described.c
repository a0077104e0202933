/* shim/fortran_described.c - the collectives of Open MPI 6 whose buffers are descriptors. sendbuf,
 * recvbuf and buffer point to these.
 *
 * Whether a section has gaps is one rank's own matter, so a blocking call is served with it, too:
 * by a copy without gaps. A request would outlive the copy. Such a call of a request goes to the
 * MPI library, which refuses it itself. */
#include "shim/fortran.h"
#include "shim/fortran_buffers.h"
#include "shim/fortran_offers.h"

#define REDUCE_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm

/* `offer` is an expression with `core`, `send`, `receive`, `made` and `code`: 1 if the core served
 * the call. `in` and `out` are the descriptors. */
#define SLOW(Shape, kind, count, copies, in, out, offer, ...)              \
    do {                                                                   \
        int code = 0;                                                      \
        bool is_served = false;                                            \
        Lent send, receive;                                                \
        GC_Mpi_handle made = 0; /* a request, where there is one */        \
        const GC_Interposer_table* const core = enter(kind, count, &code); \
        (void)made;                                                        \
        if (core != NULL && lend(in, copies, &send)) {                     \
            if (lend(out, copies, &receive)) {                             \
                is_served = (offer) != 0;                                  \
                give_back(&receive, is_served);                            \
            }                                                              \
            give_back(&send, false);                                       \
        }                                                                  \
        F_END(Shape, is_served, __VA_ARGS__);                              \
    } while (0)

#define WRAPPER(lower, UPPER, kind, count, copies, in, out, PARAMETERS, ARGUMENTS, offer) \
    GC_DEFINE_CALL_AS(GC_PLAIN_MANGLINGS, lower, UPPER, passes(kind, count), PARAMETERS,  \
                      ARGUMENTS,                                                          \
                      SLOW(Of_##lower, kind, count, copies, in, out, offer, GC_BARE ARGUMENTS))

#define REDUCE_MEMBERS F_REDUCE_MEMBERS(send.buffer, receive.buffer)

#define ALLREDUCE(lower, UPPER, Count)                                             \
    WRAPPER(lower, UPPER, GC_CALL_ALLREDUCE, *count, MAY_COPY, sendbuf, recvbuf,   \
            (F_REDUCE_PARAMETERS(Count), int* ierror), (REDUCE_ARGUMENTS, ierror), \
            OFFER_ALLREDUCE)

#define REDUCE_SCATTER_BLOCK(lower, UPPER, Count)                                           \
    WRAPPER(lower, UPPER, GC_CALL_REDUCE_SCATTER_BLOCK, *count, MAY_COPY, sendbuf, recvbuf, \
            (F_REDUCE_PARAMETERS(Count), int* ierror), (REDUCE_ARGUMENTS, ierror),          \
            OFFER_REDUCE_SCATTER_BLOCK)

/* Here `count` is the array of counts: only a closed gate lets the call pass. */
#define REDUCE_SCATTER(lower, UPPER, Count)                                                  \
    WRAPPER(lower, UPPER, GC_CALL_REDUCE_SCATTER, INT64_MAX - 1, MAY_COPY, sendbuf, recvbuf, \
            (F_REDUCE_PARAMETERS(Count), int* ierror), (REDUCE_ARGUMENTS, ierror),           \
            OFFER_REDUCE_SCATTER)

#define IALLREDUCE(lower, UPPER, Count)                                            \
    WRAPPER(lower, UPPER, GC_CALL_IALLREDUCE, *count, NO_COPIES, sendbuf, recvbuf, \
            (F_REDUCE_PARAMETERS(Count), int* request, int* ierror),               \
            (REDUCE_ARGUMENTS, request, ierror), OFFER_IALLREDUCE)

#define ALLREDUCE_INIT(lower, UPPER, Count)                                            \
    WRAPPER(lower, UPPER, GC_CALL_ALLREDUCE_INIT, *count, NO_COPIES, sendbuf, recvbuf, \
            (F_REDUCE_PARAMETERS(Count), const int* info, int* request, int* ierror),  \
            (REDUCE_ARGUMENTS, info, request, ierror), OFFER_ALLREDUCE_INIT)

#define BCAST(lower, UPPER, Count)                                       \
    WRAPPER(lower, UPPER, GC_CALL_BCAST, *count, MAY_COPY, NULL, buffer, \
            (F_BCAST_PARAMETERS(Count), int* ierror),                    \
            (buffer, count, datatype, root, comm, ierror),               \
            F_OFFER(GC_CALL_BCAST, F_BCAST_MEMBERS(receive.buffer)))

#define REDUCE(lower, UPPER, Count)                                           \
    WRAPPER(lower, UPPER, GC_CALL_REDUCE, *count, MAY_COPY, sendbuf, recvbuf, \
            (F_TO_ROOT_PARAMETERS(Count), int* ierror),                       \
            (sendbuf, recvbuf, count, datatype, op, root, comm, ierror), OFFER_REDUCE)

#define ALLGATHER(lower, UPPER, Count)                                                  \
    WRAPPER(lower, UPPER, GC_CALL_ALLGATHER, *recvcount, MAY_COPY, sendbuf, recvbuf,    \
            (F_GATHER_PARAMETERS(Count), int* ierror),                                  \
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror), \
            F_OFFER(GC_CALL_ALLGATHER, F_GATHER_MEMBERS(send.buffer, receive.buffer)))

/* Module mpi_f08 with counts of both widths, and module mpi. */
#define ALL_NAMES(CALL, lower, UPPER)               \
    CALL(lower##_f08ts, UPPER##_F08TS, int)         \
    CALL(lower##_c_f08ts, UPPER##_C_F08TS, int64_t) \
    CALL(lower##_fts, UPPER##_FTS, int)

ALL_NAMES(ALLREDUCE, mpi_allreduce, MPI_ALLREDUCE)
ALL_NAMES(IALLREDUCE, mpi_iallreduce, MPI_IALLREDUCE)
ALL_NAMES(ALLREDUCE_INIT, mpi_allreduce_init, MPI_ALLREDUCE_INIT)
ALL_NAMES(REDUCE_SCATTER_BLOCK, mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK)
ALL_NAMES(REDUCE_SCATTER, mpi_reduce_scatter, MPI_REDUCE_SCATTER)
ALL_NAMES(ALLGATHER, mpi_allgather, MPI_ALLGATHER)
ALL_NAMES(BCAST, mpi_bcast, MPI_BCAST)
ALL_NAMES(REDUCE, mpi_reduce, MPI_REDUCE)
