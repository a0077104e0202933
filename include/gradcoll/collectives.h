/* gradcoll/collectives.h - the blocking and nonblocking collectives, with MPI's own arguments and
 * meaning. */
#ifndef GRADCOLL_COLLECTIVES_H
#define GRADCOLL_COLLECTIVES_H

#include <mpi.h>

#include <gradcoll/residual.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does MPI_Allreduce (MPI 3.1 section 5.9.6) over the tree. All datatypes, ops, communicators and
 * MPI_IN_PLACE are served: calls that the tree cannot make faster (derived types, user ops, pairs,
 * intercommunicators, vectors shorter than GC_TREE_MIN_BYTES) pass to MPI_Allreduce, by rules on
 * which all ranks agree. Ranks of one host reduce through shared memory instead, which also serves
 * the ops that have no kernel here: MPI_Reduce_local combines the elements, a user op on the
 * calling thread, in rank order (docs/limits.md has the exceptions). Complex numbers count and are
 * compressed as two reals. All ranks get the same bits. Floating-point sums are added in tree
 * order, on one host in rank order; between hosts that order may change from call to call while the
 * library learns the network, unless GC_REPRODUCIBLE is on (docs/settings.md, "In which order are
 * sums added?"). Errors: MPI_ERR_COUNT, MPI_ERR_BUFFER (null with count > 0, or overlapping
 * buffers), MPI_ERR_TYPE, MPI_ERR_OP, MPI_ERR_COMM, MPI_ERR_OTHER (a peer's message failed its
 * check), MPI_ERR_UNSUPPORTED_OPERATION on every rank if gc_tolerance cannot be kept: recvbuf then
 * has the sum as near as its type can represent it. Source: FlexReduce (Lee et al., DAC 2020). */
int GC_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm);
/* Does GC_Allreduce for counts beyond 2^31 - 1. */
int GC_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm);

/* Does GC_Allreduce with error feedback: what this rank's encoders dropped in earlier calls with
 * the same residual is added to what it sends now, and what they drop now is kept in the residual.
 * With an exact codec the residual is used up and stays zero. Collective: all ranks pass a residual
 * made by the same GC_Residual_create. Calls with one residual must not overlap. */
int GC_Allreduce_residual(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, GC_Residual residual);

/* Does MPI_Iallreduce (section 5.12.8): starts the sum of `count` elements and returns without
 * waiting for other ranks. `request` is an ordinary MPI request: MPI_Wait, MPI_Test, MPI_Waitall
 * and the others complete it; MPI_Cancel does nothing. Until then `sendbuf` must not be changed and
 * `recvbuf` must not be read. All ranks start their collective calls on a communicator in one
 * order; many may be under way at once. The call uses the tree, or the shared memory of one host
 * once a blocking call has made it, if MPI runs with MPI_THREAD_MULTIPLE and the communicator has
 * been attached (by a blocking GC_ call or GC_Comm_attach); otherwise MPI_Iallreduce serves it,
 * exactly. With the interposer preloaded, calls on one host need no MPI_THREAD_MULTIPLE.
 * docs/decisions/003 says why. The call itself returns those errors of GC_Allreduce that its
 * arguments show, MPI_ERR_REQUEST if `request` is null, and MPI_ERR_BUFFER for device memory if the
 * call passes to an MPI library that cannot read it; `*request` is then not set. What fails later
 * (MPI_ERR_OTHER: a message failed its check; MPI_ERR_UNSUPPORTED_OPERATION: gc_tolerance cannot be
 * kept) is returned by the call that completes the request, after the communicator's error handler
 * has run. */
int GC_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request);
/* Does GC_Iallreduce for counts beyond 2^31 - 1. */
int GC_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm, MPI_Request* request);

/* Does MPI_Reduce_scatter_block (section 5.10.1): block r of the reduced vector ends on rank r.
 * `sendbuf` has one block of `recvcount` elements for every rank, n * recvcount in all on n ranks;
 * `recvbuf` has recvcount elements. With MPI_IN_PLACE the n * recvcount elements are in `recvbuf`:
 * its first block is the result, and the content of the others is unspecified afterwards.
 * gc_compress_bytes, gc_tree_min_bytes and the like are compared with the size of the whole vector.
 * Codecs encode multiples of 512 elements of each block; what is left of it travels exactly,
 * and calls with shorter blocks are exact.
 * The same calls pass to the MPI library as for GC_Allreduce. Buffers must be in host memory.
 * Errors: those of GC_Allreduce (MPI_ERR_BUFFER also for device memory); MPI_ERR_COUNT if
 * `recvcount` is negative. */
int GC_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* Does GC_Reduce_scatter_block with error feedback, as GC_Allreduce_residual does for an allreduce:
 * what this rank's encoders dropped of the blocks of other ranks is added to what it sends of them
 * in the next call. A rank's own contribution to its block is never encoded. Only what an allreduce
 * sends on its way up travels: about half of its bytes. Collective: all ranks pass a residual made
 * by the same GC_Residual_create_for_blocks. Calls with one residual must not overlap; they never
 * pass to the MPI library. Errors: those of GC_Reduce_scatter_block, MPI_ERR_COUNT also if the
 * whole vector cannot be counted; MPI_ERR_ARG if the residual is null, or was made for another
 * communicator, count, type or call; MPI_ERR_TYPE and MPI_ERR_OP if it is not a sum of
 * floating-point numbers. */
int GC_Reduce_scatter_block_residual(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                     GC_Residual residual);

/* Does MPI_Allgather (section 5.7): block r of `recvbuf`, `recvcount` elements of `recvtype`, is
 * what rank r sent; `recvbuf` has n blocks on n ranks, `sendbuf` one. With MPI_IN_PLACE each rank's
 * own block is in its place in `recvbuf`, and `sendcount` and `sendtype` are ignored. All blocks
 * have the same number of bytes, but each rank may describe them by other types, derived ones too
 * (which are packed). With a lossy codec on the communicator the gathered blocks of floating-point
 * types are approximations, the same on every rank, the owner included. Buffers must be in host
 * memory. Errors: MPI_ERR_COUNT (negative, or sendcount x sendtype and recvcount x recvtype differ
 * in bytes), MPI_ERR_BUFFER (null with elements, overlapping, device memory), MPI_ERR_TYPE,
 * MPI_ERR_COMM, MPI_ERR_OTHER. */
int GC_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Combines `input_count` vectors of this rank (1 to 65,536) into `output`, with the bits that
 * GC_Allreduce with gc_reproducible=anywhere gives if each vector is on a rank of its own: the same
 * eight contributions may be on one rank or on eight (docs/reproducible.md). It rounds once, so
 * what it returns is no contribution to a further sum if that is to have the bits of all. Local:
 * nobody is asked, and no setting is needed. Each input and `output` have `count` elements in
 * memory of the host; `output` may be one of the inputs, and must not overlap them otherwise.
 * Thread safe if no output overlaps what another thread uses. Allowed are MPI_SUM, MPI_MIN and
 * MPI_MAX of fp16, bf16, fp32, fp64 and complex numbers of them, and the ops of integers that have
 * kernels here. Errors: MPI_ERR_ARG (input_count, null `inputs`), MPI_ERR_COUNT, MPI_ERR_BUFFER
 * (null with count > 0, overlapping, device memory), MPI_ERR_TYPE, MPI_ERR_OP,
 * MPI_ERR_UNSUPPORTED_OPERATION for what cannot be kept; `output` is then unchanged. */
int GC_Accumulate(const void* const inputs[], int input_count, void* output, MPI_Count count,
                  MPI_Datatype datatype, MPI_Op op);

#ifdef __cplusplus
}
#endif
#endif
