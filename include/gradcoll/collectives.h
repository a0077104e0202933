/* gradcoll/collectives.h - the blocking and nonblocking collectives, with MPI's own arguments and
 * meaning. */
#ifndef GRADCOLL_COLLECTIVES_H
#define GRADCOLL_COLLECTIVES_H

#include <mpi.h>

#include <gradcoll/residual.h>

#ifdef __cplusplus
extern "C" {
#endif

/* MPI_Allreduce (MPI 3.1 section 5.9.6) over the tree. All datatypes, ops, communicators and
 * MPI_IN_PLACE are served: what the tree has nothing better for (derived types, user ops,
 * intercommunicators, short vectors, GC_TREE_MIN_BYTES) passes to MPI_Allreduce, by rules on which
 * all ranks agree. Floating-point sums are added in tree order, the same on every call of one shape
 * on one communicator. Errors: MPI_ERR_COUNT, MPI_ERR_BUFFER (null with count > 0, or overlapping
 * buffers), MPI_ERR_TYPE, MPI_ERR_OP, MPI_ERR_COMM, MPI_ERR_OTHER (a peer's message did not check
 * out). Source: FlexReduce (Lee et al., DAC 2020). */
int GC_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm);
/* The same for counts beyond 2^31 - 1. */
int GC_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm);

/* GC_Allreduce with error feedback: what this rank's encoders dropped in earlier calls with the
 * same residual is added to what it sends now, and what they drop now is kept in it. With an exact
 * codec a residual is used up and stays zero. Collective: all ranks pass a residual made by the
 * same GC_Residual_create. Not for overlapping calls with one residual. */
int GC_Allreduce_residual(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, GC_Residual residual);

/* MPI_Iallreduce. `request` is an ordinary MPI request: MPI_Wait, MPI_Test, MPI_Waitall and the
 * others complete it. Uses the tree if MPI runs with MPI_THREAD_MULTIPLE and the communicator has
 * been attached (a blocking GC_ call or GC_Comm_attach came before); otherwise MPI_Iallreduce
 * serves the call, exactly. Why: docs/decisions/003. */
int GC_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm, MPI_Request* request);
int GC_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm, MPI_Request* request);

/* MPI_Reduce_scatter_block (section 5.10.1): block r of the reduced vector ends on rank r.
 * MPI_IN_PLACE as in MPI. */
int GC_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);

/* MPI_Allgather (section 5.7). With a lossy codec on the communicator the gathered blocks are
 * approximations, the same on every rank, the owner included. */
int GC_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

#ifdef __cplusplus
}
#endif
#endif
