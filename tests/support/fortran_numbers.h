/* tests/support/fortran_numbers.h - Fortran's handles, which are numbers, and those of C, for tests
 * in C and C++. The header of the standard ABI of MPI 5 has other names for the same. */
#pragma once

#include <mpi.h>

#if defined(MPI_ABI_VERSION) && !defined(OPEN_MPI) && !defined(MPICH_VERSION)
#define OF_NUMBER(Kind, number) PMPI_##Kind##_fromint(number)
#define NUMBER_OF(Kind, handle) PMPI_##Kind##_toint(handle)
#else
#define OF_NUMBER(Kind, number) PMPI_##Kind##_f2c(number)
#define NUMBER_OF(Kind, handle) PMPI_##Kind##_c2f(handle)
#endif
