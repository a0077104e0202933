! tests/preload/family_mpif.f90 - the allreduce family from Fortran with include 'mpif.h'. Argument: FOLDER.
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
  use family_ops
  implicit none
  include 'mpif.h'
#include "family_body.inc"
end program
