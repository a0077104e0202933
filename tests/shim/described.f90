! shim/described.f90 - calls with descriptors of buffers, whole arrays and sections. With the argument "sections" also
! such calls as the made-up MPI refuses, and only an interposer serves: with gaps.
program described
  use mpi
  use iso_c_binding
  implicit none
  interface
    subroutine MPI_Allreduce_f08ts(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count, datatype, op, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Allreduce_c_f08ts(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer(8), intent(in) :: count
      integer, intent(in) :: datatype, op, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Allreduce_c_f08(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      double precision, intent(in) :: sendbuf(*)
      double precision :: recvbuf(*)
      integer(8), intent(in) :: count
      integer, intent(in) :: datatype, op, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Allreduce_FTS(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count, datatype, op, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Reduce_scatter_block_f08ts(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count, datatype, op, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Reduce_scatter_f08ts(sendbuf, recvbuf, counts, datatype, op, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: counts(*), datatype, op, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Allgather_f08ts(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: sendcount, sendtype, recvcount, recvtype, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Bcast_f08ts(buffer, count, datatype, root, comm, ierror)
      type(*), dimension(..) :: buffer
      integer, intent(in) :: count, datatype, root, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Reduce_f08ts(sendbuf, recvbuf, count, datatype, op, root, comm, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count, datatype, op, root, comm
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Iallreduce_f08ts(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count, datatype, op, comm
      integer, intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
    subroutine MPI_Allreduce_init_f08ts(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count, datatype, op, comm, info
      integer, intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  integer, parameter :: n = 60
  double precision :: x(2 * n), y(2 * n), gathered(8 * n)
  double precision, target :: m(4, 6), before(4, 6)
  integer :: rank, ranks, wrong, ierror, request, i, counts(8)
  character(len=16) :: argument

  wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, argument)
  call whole()
  if (argument == 'sections') call sections()
  call MPI_Finalize(ierror)
  if (rank == 0 .and. wrong == 0) print '(a)', 'described: right'
  if (wrong /= 0) stop 1

contains

  subroutine begin()
    x = [((rank + 1d0) * i, i = 1, 2 * n)]
    y = -1
    ierror = -7
  end subroutine

  double precision function total(element)
    integer, intent(in) :: element
    total = element * (ranks * (ranks + 1) / 2d0)
  end function

  subroutine check(what, good)
    character(len=*), intent(in) :: what
    logical, intent(in) :: good
    if (.not. good) then
      print '(a,i0,2a)', 'rank ', rank, ' wrong: ', what
      wrong = wrong + 1
    end if
  end subroutine

  logical function is_total(values, step)
    double precision, intent(in) :: values(:)
    integer, intent(in) :: step
    is_total = all(values == [(total(1 + step * (i - 1)), i = 1, size(values))])
  end function

  subroutine of_assumed_size(from, into)
    double precision :: from(2, *), into(*)
    call MPI_Allreduce_f08ts(from, into, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine whole()
    call begin()
    call MPI_Allreduce_f08ts(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check('f08ts', is_total(y(1:n), 1) .and. all(y(n + 1:) == -1))
    call begin()
    call MPI_Allreduce_c_f08ts(x, y, int(n, 8), MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('c_f08ts', ierror == 0 .and. is_total(y(1:n), 1))
    call begin()
    call MPI_Allreduce_c_f08(x, y, int(n, 8), MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('c_f08', ierror == 0 .and. is_total(y(1:n), 1))
    call begin()
    call MPI_Allreduce_FTS(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('FTS', ierror == 0 .and. is_total(y(1:n), 1))
    call begin()
    call MPI_Allreduce_f08ts(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('in place', ierror == 0 .and. is_total(x(1:n), 1))
    call begin()
    call of_assumed_size(x, y)
    call check('assumed size', ierror == 0 .and. is_total(y(1:n), 1))
    call begin()
    call MPI_Reduce_scatter_block_f08ts(spread(x(1:4), 2, ranks), y, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('reduce_scatter_block', ierror == 0 .and. is_total(y(1:4), 1))
    call begin()
    counts = 4
    call MPI_Reduce_scatter_f08ts(spread(x(1:4), 2, ranks), y, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('reduce_scatter', ierror == 0 .and. is_total(y(1:4), 1))
    call begin()
    call MPI_Allgather_f08ts(x, n, MPI_DOUBLE_PRECISION, gathered, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
    call check('allgather', ierror == 0 .and. gathered(ranks * n) == dble(ranks) * n)
    call begin()
    if (rank == ranks - 1) y = x
    call MPI_Bcast_f08ts(y(2), 1, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierror)
    call check('bcast', ierror == 0 .and. y(2) == 2d0 * ranks)
    call begin()
    call MPI_Reduce_f08ts(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    call check('reduce', ierror == 0 .and. (rank /= 0 .or. is_total(y(1:n), 1)))
    call begin()
    call MPI_Iallreduce_f08ts(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, i)
    call check('iallreduce', ierror == 0 .and. is_total(y(1:n), 1))
    call begin()
    call MPI_Allreduce_init_f08ts(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
    call MPI_Start(request, i)
    call MPI_Wait(request, MPI_STATUS_IGNORE, i)
    call MPI_Request_free(request, i)
    call check('allreduce_init', ierror == 0 .and. is_total(y(1:n), 1))
  end subroutine

  ! Rank 0 alone has gaps in some of these calls: all ranks must take the same way.
  subroutine sections()
    double precision, pointer :: backwards(:)
    double precision, target :: into(n)
    call begin()
    if (rank == 0) then
      call MPI_Allreduce_f08ts(x(1:2 * n:2), y(2:2 * n:2), n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
      call check('gaps', ierror == 0 .and. is_total(y(2:2 * n:2), 2) .and. all(y(1:2 * n:2) == -1))
    else
      x(1:n) = x(1:2 * n:2)
      call MPI_Allreduce_f08ts(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
      call check('no gaps', ierror == 0 .and. is_total(y(1:n), 2))
    end if
    call begin()
    call MPI_Allreduce_FTS(MPI_IN_PLACE, x(1:2 * n:2), n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('gaps in place', ierror == 0 .and. is_total(x(1:2 * n:2), 2) .and. x(2) == 2 * (rank + 1d0))
    call begin()
    into = 0
    backwards => into(n:1:-1)
    call MPI_Allreduce_f08ts(x, backwards, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
    call check('backwards', ierror == 0 .and. is_total(into(n:1:-1), 1))
    m = reshape([((rank + 1d0) * i, i = 1, 24)], [4, 6])
    before = m
    call MPI_Bcast_f08ts(m(2:3, 2:6:2), 6, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierror)
    before(2:3, 2:6:2) = before(2:3, 2:6:2) / (rank + 1) * ranks
    call check('section of a matrix', ierror == 0 .and. all(m == before))
    call begin()
    call MPI_Iallreduce_f08ts(x(1:2 * n:2), y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call check('a request with gaps is refused by the MPI', ierror == MPI_ERR_INTERN)
  end subroutine
end program
