! shim/many.F90 - many.c in Fortran.
subroutine measured(calls)
#ifdef STYLE_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer, intent(in) :: calls
  integer :: i, ierror
  real :: one, total
  one = 1
  do i = 1, calls
    call MPI_Allreduce(one, total, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
end subroutine

program many
#ifdef STYLE_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  integer :: ierror
  real :: one, total
  one = 1
  call MPI_Init(ierror)
  call MPI_Allreduce(one, total, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Allreduce(one, total, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  call measured(1000)
  call MPI_Finalize(ierror)
  if (total /= 1) stop 1
end program
