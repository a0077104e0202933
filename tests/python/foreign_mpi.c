/* foreign_mpi.c - stands for a libgradcoll that was built for an MPI other than mpi4py's;
 * preloaded, for an MPI library of another version. */
#include <stdlib.h>
#include <string.h>

int PMPI_Get_library_version(char* version, int* length);
int PMPI_Get_library_version(char* version, int* length) {
    const char* const told = getenv("GRADCOLL_TEST_MPI_VERSION");
    strcpy(version, told != NULL ? told : "Foreign MPI 1.0, package: a test");
    *length = (int)strlen(version);
    return 0;
}
