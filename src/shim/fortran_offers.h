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

/* Offers a call with these members of its GC_Call: the arguments as C would have passed them.
 * `send` and `receive` are its buffers. */
#define F_OFFER(kind, ...) offer_to(core, kind, &(GC_Call){__VA_ARGS__}, &code)
#define F_ON_COMM \
    .datatype = core->datatype_of_fortran(*datatype), .comm = core->comm_of_fortran(*comm)
#define F_REDUCE_MEMBERS(send, receive) \
    .sendbuf = (send), .recvbuf = (void*)(receive), .op = core->op_of_fortran(*op), F_ON_COMM
#define F_GATHER_MEMBERS(send, receive)                                                           \
    .sendbuf = (send), .sendcount = *sendcount, .sendtype = core->datatype_of_fortran(*sendtype), \
    .recvbuf = (void*)(receive), .count = *recvcount,                                             \
    .datatype = core->datatype_of_fortran(*recvtype), .comm = core->comm_of_fortran(*comm)
#define F_BCAST_MEMBERS(memory) \
    .recvbuf = (void*)(memory), .count = *count, .root = *root, F_ON_COMM

/* These are the offers of each kind. The file that includes this says what REDUCE_MEMBERS are. */
#define OFFER_ALLREDUCE                                                                        \
    offer_allreduce(core, &(GC_Call){REDUCE_MEMBERS, .count = *count, .passed = &last_passed}, \
                    &code)
#define OFFER_REDUCE_SCATTER_BLOCK \
    F_OFFER(GC_CALL_REDUCE_SCATTER_BLOCK, REDUCE_MEMBERS, .count = *count)
/* Here `count` is the array of counts. */
#define OFFER_REDUCE_SCATTER                                             \
    F_OFFER(GC_CALL_REDUCE_SCATTER, REDUCE_MEMBERS, .recvcounts = count, \
            .count_bytes = sizeof *count)
#define OFFER_IALLREDUCE                                                           \
    F_OFFER(GC_CALL_IALLREDUCE, REDUCE_MEMBERS, .count = *count, .request = &made, \
            .passed = &last_passed) &&                                             \
        make_request(core, made, request)
#define OFFER_ALLREDUCE_INIT                                           \
    F_OFFER(GC_CALL_ALLREDUCE_INIT, REDUCE_MEMBERS, .count = *count,   \
            .info = core->info_of_fortran(*info), .request = &made) && \
        make_request(core, made, request)
#define OFFER_REDUCE F_OFFER(GC_CALL_REDUCE, REDUCE_MEMBERS, .count = *count, .root = *root)

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
