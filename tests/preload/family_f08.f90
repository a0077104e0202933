! tests/preload/family_f08.f90 - the allreduce family from Fortran with use mpi_f08; many calls leave out ierror.
! Argument: FOLDER.
#define HANDLE(kind) type(kind)
#define OPTIONAL_ERROR
#define WITH_F08
module family_ops
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  subroutine keep_last(in, inout, n, datatype)
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [n])
    call c_f_pointer(inout, b, [n])
    where (b == 0) b = a
    if (datatype /= MPI_INTEGER) b = 0
  end subroutine
end module

program family
  use mpi_f08
#ifdef WITH_EXTENSIONS
  use mpi_f08_ext
#endif
  use family_ops
  implicit none
#include "family_body.inc"
end program
