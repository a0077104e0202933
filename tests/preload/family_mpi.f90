! tests/preload/family_mpi.f90 - the allreduce family from Fortran with use mpi. Argument: FOLDER.
#define HANDLE(kind) integer
#define OPTIONAL_ERROR , ierr
module family_ops
  implicit none
contains
  subroutine keep_last(a, b, n, datatype)
    integer :: n, datatype
    integer :: a(n), b(n)
    where (b == 0) b = a
  end subroutine
end module

program family
  use mpi
#ifdef WITH_EXTENSIONS
  use mpi_ext
#endif
  use family_ops
  implicit none
#include "family_body.inc"
end program
