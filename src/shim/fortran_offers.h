/* shim/fortran_offers.h - how a collective under a Fortran name is offered: what its wrappers
 * share, whether its buffers are addresses or descriptors. */
#ifndef GRADCOLL_SHIM_FORTRAN_OFFERS_H
#define GRADCOLL_SHIM_FORTRAN_OFFERS_H

#include "shim/gate.h"

/* In module mpi_f08 ierror is optional, and null if it is absent. */
static inline void set_ierror(int* ierror, int code) {
    if (ierror != NULL) *ierror = code;
}

/* Ends a wrapper: hands out the served call's code, or lets the MPI library have the call. */
#define F_END(Shape, is_served, ...)              \
    do {                                          \
        if (is_served) {                          \
            set_ierror(ierror, code);             \
        } else {                                  \
            ((Shape*)next_of(name))(__VA_ARGS__); \
        }                                         \
        leave(core);                              \
    } while (0)

/* Offers a call with these members of its GC_Call: the arguments as C would have passed them. */
#define F_OFFER(kind, ...) offer_to(core, kind, &(GC_Call){__VA_ARGS__}, &code)
#define F_ON_COMM \
    .datatype = core->datatype_of_fortran(*datatype), .comm = core->comm_of_fortran(*comm)
#define F_REDUCE_MEMBERS \
    .sendbuf = send, .recvbuf = (void*)receive, .op = core->op_of_fortran(*op), F_ON_COMM
#define F_REDUCE_ARGUMENTS sendbuf, recvbuf, count, datatype, op, comm

/* The wrappers of each shape (names.h). The file that includes this says what a wrapper is:
 * WRAPPER(MANGLINGS, lower, UPPER, kind, count, copies, in, out, PARAMETERS, ARGUMENTS, offer).
 * `count` is for the gate, `in` and `out` are the buffers, which may be copied or not. `offer` is
 * an expression with `core`, `send` and `receive` (the buffers as C would have passed them), `made`
 * (a request) and `code`: 1 if the core served the call. */
#define F_ALL(MANGLINGS, lower, UPPER, kind, Count)                        \
    WRAPPER(                                                               \
        MANGLINGS, lower, UPPER, kind, *count, MAY_COPY, sendbuf, recvbuf, \
        (F_ALL_PARAMETERS(Count)), (F_REDUCE_ARGUMENTS, ierror),           \
        offer_allreduce(                                                   \
            core, &(GC_Call){F_REDUCE_MEMBERS, .count = *count, .passed = &last_passed}, &code))

/* A request would outlive a copy. */
#define F_STARTED(MANGLINGS, lower, UPPER, kind, Count)                           \
    WRAPPER(MANGLINGS, lower, UPPER, kind, *count, NO_COPIES, sendbuf, recvbuf,   \
            (F_STARTED_PARAMETERS(Count)), (F_REDUCE_ARGUMENTS, request, ierror), \
            F_OFFER(kind, F_REDUCE_MEMBERS, .count = *count, .request = &made,    \
                    .passed = &last_passed) &&                                    \
                make_request(core, made, request))

#define F_SET_UP(MANGLINGS, lower, UPPER, kind, Count)                                             \
    WRAPPER(MANGLINGS, lower, UPPER, kind, *count, NO_COPIES, sendbuf, recvbuf,                    \
            (F_SET_UP_PARAMETERS(Count)), (F_REDUCE_ARGUMENTS, info, request, ierror),             \
            F_OFFER(kind, F_REDUCE_MEMBERS, .count = *count, .info = core->info_of_fortran(*info), \
                    .request = &made) &&                                                           \
                make_request(core, made, request))

#define F_BLOCK(MANGLINGS, lower, UPPER, kind, Count)                          \
    WRAPPER(MANGLINGS, lower, UPPER, kind, *count, MAY_COPY, sendbuf, recvbuf, \
            (F_BLOCK_PARAMETERS(Count)), (F_REDUCE_ARGUMENTS, ierror),         \
            F_OFFER(kind, F_REDUCE_MEMBERS, .count = *count))

/* Here `count` is the array of counts: only a closed gate lets the call pass. */
#define F_BLOCKS(MANGLINGS, lower, UPPER, kind, Count)                                \
    WRAPPER(MANGLINGS, lower, UPPER, kind, INT64_MAX - 1, MAY_COPY, sendbuf, recvbuf, \
            (F_BLOCKS_PARAMETERS(Count)), (F_REDUCE_ARGUMENTS, ierror),               \
            F_OFFER(kind, F_REDUCE_MEMBERS, .recvcounts = count, .count_bytes = sizeof *count))

#define F_GATHER(MANGLINGS, lower, UPPER, kind, Count)                                           \
    WRAPPER(MANGLINGS, lower, UPPER, kind, *recvcount, MAY_COPY, sendbuf, recvbuf,               \
            (F_GATHER_PARAMETERS(Count)),                                                        \
            (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror),          \
            F_OFFER(kind, .sendbuf = send, .sendcount = *sendcount,                              \
                    .sendtype = core->datatype_of_fortran(*sendtype), .recvbuf = (void*)receive, \
                    .count = *recvcount, .datatype = core->datatype_of_fortran(*recvtype),       \
                    .comm = core->comm_of_fortran(*comm)))

/* Its buffer is never in place, but it may be MPI_BOTTOM. */
#define F_FROM_ROOT(MANGLINGS, lower, UPPER, kind, Count)                                   \
    WRAPPER(MANGLINGS, lower, UPPER, kind, *count, MAY_COPY, NULL, buffer,                  \
            (F_FROM_ROOT_PARAMETERS(Count)), (buffer, count, datatype, root, comm, ierror), \
            F_OFFER(kind, .recvbuf = (void*)receive, .count = *count, .root = *root, F_ON_COMM))

#define F_TO_ROOT(MANGLINGS, lower, UPPER, kind, Count)                        \
    WRAPPER(MANGLINGS, lower, UPPER, kind, *count, MAY_COPY, sendbuf, recvbuf, \
            (F_TO_ROOT_PARAMETERS(Count)),                                     \
            (sendbuf, recvbuf, count, datatype, op, root, comm, ierror),       \
            F_OFFER(kind, F_REDUCE_MEMBERS, .count = *count, .root = *root))

static inline int offer_allreduce(const GC_Interposer_table* core, const GC_Call* call, int* code) {
    if (passes_like_last(call->comm, call->datatype, call->op, call->count)) return 0;
    return offer_to(core, GC_CALL_ALLREDUCE, call, code);
}

/* A served call made this request. MPI_Requests of Open MPI are pointers. */
static inline int make_request(const GC_Interposer_table* core, GC_Mpi_handle made, int* request) {
    *request = core->request_to_fortran(&made);
    return 1;
}

#endif
