/* gradcoll/base.h - version, error text and the two element types that MPI does not have. */
#ifndef GRADCOLL_BASE_H
#define GRADCOLL_BASE_H

#include <mpi.h>
#include <stddef.h>

#define GC_VERSION_MAJOR 0
#define GC_VERSION_MINOR 1
#define GC_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library that is running; the macros above are the version of the
 * header that was compiled against. Any pointer may be NULL. Callable at any time. */
int GC_Get_version(int* major, int* minor, int* patch);

/* Writes the full text of error `code`. If `code` is what the last failing GC_ call of this thread
 * returned, or its class, the text is that failure's own message; otherwise it is
 * MPI_Error_string's. `text` holds at least GC_MAX_ERROR_STRING bytes; `length` (may be NULL) gets
 * the length without the final 0. */
#define GC_MAX_ERROR_STRING 1024
int GC_Error_string(int code, char* text, int* length);

/* Return the element types for 16-bit floats: IEEE binary16 and bfloat16, 2 bytes each, for GC_
 * calls and for moving data with any MPI call. GC_ calls sum them in fp32 and round once per
 * addition. The library owns the types; the caller never frees them. Before MPI_Init and after
 * MPI_Finalize both calls return MPI_DATATYPE_NULL. */
MPI_Datatype GC_Type_float16(void);
MPI_Datatype GC_Type_bfloat16(void);

#ifdef __cplusplus
}
#endif
#endif
