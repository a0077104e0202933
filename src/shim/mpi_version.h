/* shim/mpi_version.h - which MPI this interposer was built for, and which one the program runs. */
#ifndef GRADCOLL_SHIM_MPI_VERSION_H
#define GRADCOLL_SHIM_MPI_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* With a <mpi.h> that no MPI library has to itself the interposer is built for this. */
#define STANDARD_ABI "an MPI with the standard ABI"

typedef struct {
    const char* family; /* "Open MPI", "MPICH", "Intel MPI", STANDARD_ABI */
    int major;
    /* The name by which the loader knows libraries of MPICH's ABI: "libmpi.so.12". It is empty for
     * others, and where nobody knows. */
    const char* soname;
    size_t handle_bytes; /* of an MPI_Comm or MPI_Request in memory */
    void* in_place;
    void* bottom;
} Built_for;

extern const Built_for built_for;

enum { RUNNING_MPI_BYTES = 160 };

/* Returns whether handles and calls of the MPI in this process are those of the one that was built
 * for: both are of one family and major version, or both have MPICH's ABI under one name of
 * library, as MPICH 3 to 5 and Intel MPI do. Writes family and version, such as "MPICH 4.0.2".
 * Legal before MPI_Init. */
bool running_mpi_is_ours(char running[RUNNING_MPI_BYTES]);

#endif
