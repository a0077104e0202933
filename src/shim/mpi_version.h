/* shim/mpi_version.h - which MPI this interposer was built for, and which one the program runs. */
#ifndef GRADCOLL_SHIM_MPI_VERSION_H
#define GRADCOLL_SHIM_MPI_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* With a <mpi.h> that no MPI library has to itself the interposer is built for this. */
#define STANDARD_ABI "an MPI with the standard ABI"

typedef struct {
    const char* family; /* "Open MPI", "MPICH", STANDARD_ABI */
    int major;
    size_t handle_bytes; /* of an MPI_Comm or MPI_Request in memory */
    void* in_place;
    void* bottom;
} Built_for;

extern const Built_for built_for;

enum { RUNNING_MPI_BYTES = 80 };

/* Writes family and version of the MPI in this process, such as "MPICH 4.0.2". Legal before
 * MPI_Init. */
bool running_mpi_is_ours(char running[RUNNING_MPI_BYTES]);

#endif
