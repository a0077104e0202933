/* shim/fortran_offers.h - how a collective under a Fortran name is offered: what its wrappers
 * share, whether its buffers are addresses or descriptors. */
#ifndef GRADCOLL_SHIM_FORTRAN_OFFERS_H
#define GRADCOLL_SHIM_FORTRAN_OFFERS_H

#include "shim/gate.h"

/* In module mpi_f08 ierror is optional, and null if it is absent. */
static inline void set_ierror(int* ierror, int code) {
    if (ierror != NULL) *ierror = code;
}

/* These are the arguments as C would have passed them. `send` and `receive` are its buffers. */
#define F_REDUCE_CALL(send, receive, elements)                                                 \
    (&(GC_Reduce_call){send, (void*)(receive), elements, core->datatype_of_fortran(*datatype), \
                       core->op_of_fortran(*op), core->comm_of_fortran(*comm)})
#define F_GATHER_CALL(send, receive)                                                             \
    (&(GC_Gather_call){send, *sendcount, core->datatype_of_fortran(*sendtype), (void*)(receive), \
                       *recvcount, core->datatype_of_fortran(*recvtype),                         \
                       core->comm_of_fortran(*comm)})
#define F_BCAST_CALL(memory)                                                                \
    (&(GC_Bcast_call){(void*)(memory), *count, core->datatype_of_fortran(*datatype), *root, \
                      core->comm_of_fortran(*comm)})

static inline int offer_allreduce(const GC_Interposer_table* core, const GC_Reduce_call* call,
                                  int* code) {
    if (passes_like_last(call->comm, call->datatype, call->op, call->count)) return 0;
    return core->allreduce(call, &last_passed, code);
}

/* A served call made this request. MPI_Requests of Open MPI are pointers. */
static inline int make_request(const GC_Interposer_table* core, GC_Mpi_handle made, int* request) {
    *request = core->request_to_fortran(&made);
    return 1;
}

#endif
