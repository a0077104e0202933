! The allreduce of collective_latency.c as a Fortran program makes it.
subroutine one_allreduce(in, out, elements) bind(c)
    use, intrinsic :: iso_c_binding, only: c_float, c_int
    implicit none
    include 'mpif.h'
    integer(c_int), value :: elements
    real(c_float), intent(in) :: in(*)
    real(c_float), intent(out) :: out(*)
    integer :: error
    call MPI_Allreduce(in, out, elements, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, error)
end subroutine one_allreduce
