/* shim/built_for.c - what <mpi.h> said when this was compiled. No other file of the interposer
 * includes it, and this one does for its macros only. */
#include <mpi.h>

#include "shim/mpi_version.h"

#if defined(OPEN_MPI)
#define FAMILY "Open MPI"
#define MAJOR OMPI_MAJOR_VERSION
#elif defined(I_MPI_VERSION) && defined(MPICH_VERSION) /* Intel's header says both */
#define FAMILY "Intel MPI"
#define MAJOR (I_MPI_NUMVERSION / 10000000)
#elif defined(MPICH_VERSION)
#define FAMILY "MPICH"
#define MAJOR (MPICH_NUMVERSION / 10000000)
#elif defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
#define FAMILY STANDARD_ABI
#define MAJOR MPI_ABI_VERSION
#else
#error "the interposer knows Open MPI, MPICH, Intel MPI and the standard ABI of MPI 5"
#endif

#if GC_MPI_HAS_FORTRAN
_Static_assert(sizeof(MPI_Fint) == 4, "the Fortran wrappers take 4-byte integers");
#endif

_Static_assert(sizeof(MPI_Comm) == sizeof(MPI_Request), "one width of handles");

const Built_for built_for = {FAMILY,           MAJOR,        GC_MPICHS_SONAME,
                             sizeof(MPI_Comm), MPI_IN_PLACE, MPI_BOTTOM};
