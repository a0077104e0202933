/* gradcoll/residual.h - what encoders dropped so far (error feedback), by rank. */
#ifndef GRADCOLL_RESIDUAL_H
#define GRADCOLL_RESIDUAL_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A GC_Residual holds one rank's dropped values for one tensor, at every level where this rank
 * encodes: fp32 values (fp64 for MPI_DOUBLE), at most about twice `count` of them. NaN and Inf
 * never enter. Size and layout depend on the communicator's tree, count and type, and on the length
 * of chunks: unless gc_chunk_bytes sets that, it may depend on the codec where the speed of links
 * is known, but is the same for all codecs of a schedule. Not thread safe. */
typedef struct GC_Residual_s* GC_Residual;
#define GC_RESIDUAL_NULL ((GC_Residual)0)

/* Makes a residual of zeros for vectors of `count` elements on `comm`. Collective. A residual
 * belongs to the plans of its calls, so the communicator learns nothing of the network any more:
 * where nobody says what it looks like (gc_topology=auto, gc_tune=online, three hosts and more), it
 * is measured for the first residual, which takes up to a second. Errors: MPI_ERR_TYPE if the type
 * is not a floating-point type that a codec knows, or complex numbers of one. */
int GC_Residual_create(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype,
                       GC_Residual* residual);
/* Does the same for GC_Reduce_scatter_block_residual with blocks of `recvcount` elements: at most
 * n * recvcount values on n ranks. No other call takes it. */
int GC_Residual_create_for_blocks(MPI_Comm comm, MPI_Count recvcount, MPI_Datatype datatype,
                                  GC_Residual* residual);
int GC_Residual_free(GC_Residual* residual);

/* Multiplies the residual by `factor` (finite), as is needed after a change of learning rate or
 * loss scale. Local. */
int GC_Residual_scale(GC_Residual residual, double factor);
/* Sets all values back to zero. Local. */
int GC_Residual_reset(GC_Residual residual);
/* Adds each value to the element of `vector` that it was dropped from, and sets all back to zero:
 * so a rank's next contribution has them where it goes on without the residual, as on a
 * communicator of GC_Comm_shrink. `vector` has the count (for blocks: all blocks) and the type of
 * the residual, and stays the caller's. Values are rounded to the type. Local. Errors:
 * MPI_ERR_BUFFER if `vector` is null or no memory of the host; MPI_ERR_ARG for residuals of
 * engines. */
int GC_Residual_hand_over(GC_Residual residual, void* vector);

/* Returns the number of bytes that GC_Residual_save writes. */
int GC_Residual_size(GC_Residual residual, size_t* size_bytes);
/* Writes a checkpoint of exactly GC_Residual_size bytes. Local. Errors: MPI_ERR_ARG if `size_bytes`
 * is less. */
int GC_Residual_save(GC_Residual residual, void* bytes, size_t size_bytes);
/* Restores a checkpoint. Local. Errors: MPI_ERR_ARG if the bytes are no checkpoint, were cut, or
 * were made for another count, type, tree or rank; the message names what differs, and the residual
 * is unchanged. */
int GC_Residual_load(GC_Residual residual, const void* bytes, size_t size_bytes);

#ifdef __cplusplus
}
#endif
#endif
