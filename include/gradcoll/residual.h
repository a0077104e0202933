/* gradcoll/residual.h - what encoders dropped so far (error feedback), by rank. */
#ifndef GRADCOLL_RESIDUAL_H
#define GRADCOLL_RESIDUAL_H

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One rank's dropped values for one tensor, at every level where this rank encodes: fp32 values
 * (fp64 for MPI_DOUBLE), at most about twice `count` of them. NaN and Inf never enter. Size and
 * layout depend on the communicator's tree, count and type, and on how long chunks are: unless
 * gc_chunk_bytes says that, they may follow the codec where links are known, but are the same for
 * all codecs of a gc_schedule. Not thread safe. */
typedef struct GC_Residual_s* GC_Residual;
#define GC_RESIDUAL_NULL ((GC_Residual)0)

/* Makes a residual of zeros for vectors of `count` elements on `comm`. Collective. Errors:
 * MPI_ERR_TYPE if the type is not a floating-point type that a codec knows, or complex numbers of
 * one. */
int GC_Residual_create(MPI_Comm comm, MPI_Count count, MPI_Datatype datatype,
                       GC_Residual* residual);
int GC_Residual_free(GC_Residual* residual);

/* Multiplies by `factor` (finite): after a change of learning rate or loss scale. Local. */
int GC_Residual_scale(GC_Residual residual, double factor);
/* Back to zeros. Local. */
int GC_Residual_reset(GC_Residual residual);

/* Bytes that GC_Residual_save writes. */
int GC_Residual_size(GC_Residual residual, size_t* size_bytes);
/* Writes a checkpoint of exactly GC_Residual_size bytes; errors: MPI_ERR_ARG if `size_bytes` is
 * less. Local. */
int GC_Residual_save(GC_Residual residual, void* bytes, size_t size_bytes);
/* Restores a checkpoint. Errors: MPI_ERR_ARG naming what differs if it is not one, was cut, or was
 * made for another count, type, tree or rank; the residual is then unchanged. Local. */
int GC_Residual_load(GC_Residual residual, const void* bytes, size_t size_bytes);

#ifdef __cplusplus
}
#endif
#endif
