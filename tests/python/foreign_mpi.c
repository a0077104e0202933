/* foreign_mpi.c - stands for a libgradcoll that was built for an MPI other than mpi4py's. */
#include <string.h>

int PMPI_Get_library_version(char* version, int* length);
int PMPI_Get_library_version(char* version, int* length) {
    strcpy(version, "Foreign MPI 1.0, package: a test");
    *length = (int)strlen(version);
    return 0;
}
