! quickstart.f90 - a Fortran program that knows nothing of Gradcoll: it sums a vector by MPI_Allreduce and checks
! the sums. The preloaded library serves that call:
!   mpifort quickstart.f90 -o quickstart_fortran
!   mpirun -n 4 ./quickstart_fortran                                                        MPI's own sums
!   mpirun -x LD_PRELOAD=PREFIX/lib/libgradcoll_pmpi.so -x GC_REPORT=text -n 4 ./quickstart_fortran        Gradcoll's
! Settings are GC_ variables, or keys of a communicator: with an argument, such as 2:4, the program sets the key
! gc_codec. MPI libraries ignore keys that they do not know, so it runs without Gradcoll as before.
program quickstart
  use mpi_f08
  implicit none
  integer, parameter :: count = 1048576
  real, allocatable :: mine(:), sums(:)
  double precision :: expected, error, norm
  character(len=64) :: codec
  integer :: rank, ranks, i, r

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  codec = 'exact'
  if (command_argument_count() > 0) call get_command_argument(1, codec)
  if (codec /= 'exact') call set_codec(MPI_COMM_WORLD, trim(codec))

  allocate(mine(count), sums(count))
  do i = 1, count
    mine(i) = value_of(i, rank)
  end do
  call MPI_Allreduce(mine, sums, count, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)

  error = 0
  norm = 0
  do i = 1, count
    expected = 0
    do r = 0, ranks - 1
      expected = expected + value_of(i, r)
    end do
    error = error + (sums(i) - expected)**2
    norm = norm + expected**2
  end do
  if (rank == 0) print '(i0, a, a, a, es8.1)', ranks, ' ranks, codec ', trim(codec), ': relative difference', sqrt(error / norm)
  call MPI_Finalize()
  if (codec == 'exact' .and. sqrt(error / norm) > 1e-6) error stop 1

contains

  real function value_of(index, of_rank)
    integer, intent(in) :: index, of_rank
    value_of = sin(real(mod(index - 1, 9973) + of_rank))
  end function

  subroutine set_codec(comm, name)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: name
    type(MPI_Info) :: info
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'gc_codec', name)
    call MPI_Info_set(info, 'gc_compress_if', 'always')
    call MPI_Comm_set_info(comm, info)
    call MPI_Info_free(info)
  end subroutine
end program
