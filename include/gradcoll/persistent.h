/* gradcoll/persistent.h - an allreduce that is set up once and started many times: a gradient of a
 * training step. Being the same vector every time, it has an identity, so error feedback is on by
 * default when its codec is lossy. */
#ifndef GRADCOLL_PERSISTENT_H
#define GRADCOLL_PERSISTENT_H

#include <mpi.h>

#include <gradcoll/residual.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GC_Request_s* GC_Request;
#define GC_REQUEST_NULL ((GC_Request)0)

/* Plans and allocates everything for repeated sums of `sendbuf` into `recvbuf` (MPI_IN_PLACE
 * allowed). Collective; ranks call it in the same order. `info` (or MPI_INFO_NULL) holds settings
 * for this request alone: gc_codec, gc_feedback, gc_compress_bytes, ... (docs/settings.md);
 * all ranks pass the same. Buffers must stay valid until GC_Request_free. Errors: as GC_Allreduce;
 * MPI_ERR_ARG for a setting (a codec on an integer type, an unknown codec, a schedule that does not
 * increase); MPI_ERR_OP for an op that is not MPI_SUM with a lossy codec. Source: MPI 4.0
 * section 6.13 (persistent collective operations). */
int GC_Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Info info, GC_Request* request);

/* Starts the operation; the buffers are the library's until it completes. With a schedule each
 * start is one step. Requests of one communicator are started in the same order on all ranks. Never
 * waits for other ranks. Errors: MPI_ERR_REQUEST if the pointer or the request is null, or if it is
 * started and not completed (it then goes on); MPI_ERR_NO_MEM. */
int GC_Start(GC_Request* request);
/* Starts all requests, in the order of the array, even if one of them fails. Errors: the first
 * failure, one of GC_Start's; MPI_ERR_COUNT if `count` is negative; MPI_ERR_ARG if the array is
 * null with count > 0. */
int GC_Startall(int count, GC_Request requests[]);

/* Make progress and complete requests. A request that is not started is complete. GC_Test or
 * GC_Wait on any request of a communicator makes progress on all its started requests, and nothing
 * else does: a rank that started a request and then blocks in another MPI call holds up those that
 * wait for the request, so between start and wait do not wait for a rank that is in GC_Wait itself.
 * The request stays and can be started again.
 * GC_Test never waits: `*flag` becomes 1 if the operation has completed, else 0. GC_Wait returns
 * when it has. Both are local, except for the messages of the operations. Errors: MPI_ERR_REQUEST
 * if the pointer or the request is null, MPI_ERR_ARG if `flag` is null. An error of the operation
 * (MPI_ERR_OTHER: a peer's message failed its check) is returned once, by the call that finds it
 * complete: `*flag` is then 1, and the result is unspecified. */
int GC_Test(GC_Request* request, int* flag);
int GC_Wait(GC_Request* request);
/* Waits for all requests, even if one of them fails. Errors: the first failure in the order of the
 * array; MPI_ERR_COUNT and MPI_ERR_ARG as GC_Startall. */
int GC_Waitall(int count, GC_Request requests[]);

/* Returns the request's residual, to save, restore, scale or reset; GC_RESIDUAL_NULL if it has
 * none. It belongs to the request. Local. Errors: MPI_ERR_REQUEST, MPI_ERR_ARG if `residual` is
 * null. */
int GC_Request_get_residual(GC_Request request, GC_Residual* residual);

/* Sets the step of the request's schedule (the next start uses this one), for instance after a
 * restart. Local, but all ranks must set the same one. Errors: MPI_ERR_REQUEST, MPI_ERR_ARG if
 * `step` is negative. */
int GC_Request_set_step(GC_Request request, long long step);

/* Waits if the request is started, frees it, and sets `*request` to GC_REQUEST_NULL. Local. Errors:
 * MPI_ERR_REQUEST if the pointer or the request is null; those of GC_Wait, after which it is freed,
 * too. */
int GC_Request_free(GC_Request* request);

#ifdef __cplusplus
}
#endif
#endif
