! shim/calls.F90 - what calls.c does, in the Fortran style that STYLE_MPIF, STYLE_MPI or STYLE_F08 says.
#ifdef STYLE_F08
#define HANDLE(kind) type(kind)
#define STATUS type(MPI_Status)
#define IERR
#define IERR_ONLY
#else
#define HANDLE(kind) integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define IERR , ierror
#define IERR_ONLY ierror
#endif
#ifdef INIT_IS_EXTENSION
#define ALLREDUCE_INIT MPIX_Allreduce_init
#else
#define ALLREDUCE_INIT MPI_Allreduce_init
#endif

#ifdef AS_PLUGIN
subroutine calls() bind(C, name='calls')
#else
program calls
#endif
#if defined(STYLE_F08)
  use mpi_f08
#ifdef INIT_IS_EXTENSION
  use mpi_f08_ext
#endif
#elif defined(STYLE_MPI)
  use mpi
#endif
  implicit none
#ifdef STYLE_MPIF
  include 'mpif.h'
#endif
  integer, parameter :: small = 4, large = 1000, most_ranks = 64
  double precision, save :: send(large * most_ranks), sums(large * most_ranks)
  integer :: rank, ranks, wrong, level
  integer, save, asynchronous :: got(1)
  integer, save :: sent(1) = 42
#ifndef STYLE_F08
  integer :: ierror
#endif

  wrong = 0
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level IERR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERR)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks IERR)
  call allreduce()
  call phases()
  call rooted()
  call persistent()
  call waits()
  call tests()
  call looks()
  call settings()
  call MPI_Finalize(IERR_ONLY)
  if (rank == 0 .and. wrong == 0) print '(a)', 'calls: right'
  if (wrong /= 0) stop 1

contains

  subroutine fill(values, count)
    double precision, intent(out) :: values(*)
    integer, intent(in) :: count
    integer :: i
    do i = 1, count
      values(i) = (rank + 1d0) * i
    end do
  end subroutine

  subroutine check(what, values, offset, count)
    character(len=*), intent(in) :: what
    double precision, intent(in) :: values(*)
    integer, intent(in) :: offset, count
    integer :: i
    do i = 1, count
      if (values(i) /= (offset + i) * (ranks * (ranks + 1) / 2d0)) then
        print *, what, ': rank', rank, 'has', values(i), 'at', i
        wrong = wrong + 1
        return
      end if
    end do
  end subroutine

  subroutine allreduce()
    HANDLE(MPI_Request) :: request
    call fill(send, large)
    call MPI_Allreduce(send, sums, small, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERR)
    call check('allreduce', sums, 0, small)
    call fill(sums, large)
    call MPI_Allreduce(MPI_IN_PLACE, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERR)
    call check('allreduce in place', sums, 0, large)
    call MPI_Iallreduce(send, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request IERR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERR)
    call check('iallreduce', sums, 0, large)
  end subroutine

  subroutine phases()
    integer :: counts(most_ranks)
    counts = large
    call fill(send, large * ranks)
    call MPI_Reduce_scatter_block(send, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERR)
    call check('reduce_scatter_block', sums, rank * large, large)
    call MPI_Reduce_scatter(send, sums, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERR)
    call check('reduce_scatter', sums, rank * large, large)
    call MPI_Allgather(sums, large, MPI_DOUBLE_PRECISION, send, large, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
    call check('allgather', send, 0, large * ranks)
    send = -1
    send(rank * large + 1:(rank + 1) * large) = sums(1:large)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, send, large, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
    call check('allgather in place', send, 0, large * ranks)
    call MPI_Allgather(MPI_BOTTOM, 0, MPI_DOUBLE_PRECISION, MPI_BOTTOM, 0, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERR)
  end subroutine

  subroutine rooted()
    integer :: i, last
    last = ranks - 1
    send(1:large) = -1
    if (rank == last) send(1:large) = [(i * (ranks * (ranks + 1) / 2d0), i = 1, large)]
    call MPI_Bcast(send, large, MPI_DOUBLE_PRECISION, last, MPI_COMM_WORLD IERR)
    call check('bcast', send, 0, large)
    call fill(send, large)
    call MPI_Reduce(send, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, last, MPI_COMM_WORLD IERR)
    if (rank == last) call check('reduce', sums, 0, large)
    call fill(sums, large)
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD IERR)
      call check('reduce in place', sums, 0, large)
    else
      call MPI_Reduce(sums, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD IERR)
    end if
    call MPI_Barrier(MPI_COMM_WORLD IERR)
  end subroutine

  subroutine persistent()
    HANDLE(MPI_Request) :: requests(1)
    integer :: step
    call ALLREDUCE_INIT(send, sums, large, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1) IERR)
    do step = 1, 3
      call fill(send, large)
      if (step < 3) then
        call MPI_Start(requests(1) IERR)
      else
        call MPI_Startall(1, requests IERR)
      end if
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE IERR)
      call check('persistent', sums, 0, large)
    end do
    call MPI_Request_free(requests(1) IERR)
  end subroutine

  ! A message to this rank itself; -1 until it is there.
  subroutine message(requests)
    HANDLE(MPI_Request), intent(out) :: requests(2)
    got = -1
    call MPI_Irecv(got, 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(1) IERR)
    call MPI_Isend(sent, 1, MPI_INTEGER, rank, 7, MPI_COMM_WORLD, requests(2) IERR)
  end subroutine

  subroutine check_message(what, requests)
    character(len=*), intent(in) :: what
    HANDLE(MPI_Request), intent(in) :: requests(2)
    if (got(1) == 42 .and. requests(1) == MPI_REQUEST_NULL .and. requests(2) == MPI_REQUEST_NULL) return
    print *, what, ': rank', rank, 'has', got
    wrong = wrong + 1
  end subroutine

  subroutine waits()
    HANDLE(MPI_Request) :: requests(2)
    integer :: indices(2), where, done, total
    call message(requests)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE IERR)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE IERR)
    call check_message('wait', requests)
    call message(requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERR)
    call check_message('waitall', requests)
    call message(requests)
    call MPI_Waitany(2, requests, where, MPI_STATUS_IGNORE IERR)
    call MPI_Waitany(2, requests, where, MPI_STATUS_IGNORE IERR)
    call check_message('waitany', requests)
    call MPI_Waitany(2, requests, where, MPI_STATUS_IGNORE IERR)  ! of MPICH not MPI_UNDEFINED
    call message(requests)
    total = 0
    do while (total < 2)
      call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE IERR)
      total = total + done
    end do
    call check_message('waitsome', requests)
  end subroutine

  subroutine tests()
    HANDLE(MPI_Request) :: requests(2)
    integer :: indices(2), where, done, total
    logical :: over
    STATUS :: found
    call message(requests)
    over = .false.
    do while (.not. over)  ! with MPI_STATUS_IGNORE Open MPI 4 says no for ever
      call MPI_Request_get_status(requests(1), over, found IERR)
    end do
    do total = 1, 2
      over = .false.
      do while (.not. over)
        call MPI_Test(requests(total), over, MPI_STATUS_IGNORE IERR)
      end do
    end do
    call check_message('test', requests)
    call message(requests)
    over = .false.
    do while (.not. over)
      call MPI_Testall(2, requests, over, MPI_STATUSES_IGNORE IERR)
    end do
    call check_message('testall', requests)
    call message(requests)
    do total = 1, 2
      over = .false.
      do while (.not. over)
        call MPI_Testany(2, requests, where, over, MPI_STATUS_IGNORE IERR)
      end do
    end do
    call check_message('testany', requests)
    call message(requests)
    total = 0
    do while (total < 2)
      call MPI_Testsome(2, requests, done, indices, MPI_STATUSES_IGNORE IERR)
      total = total + done
    end do
    call check_message('testsome', requests)
  end subroutine

  ! Looks for a message to this rank itself, and for the end of its own access to its window
  ! (one rank alone has none in Open MPI 4).
  subroutine looks()
    HANDLE(MPI_Request) :: requests(2)
    HANDLE(MPI_Message) :: taken
    HANDLE(MPI_Win) :: window
    HANDLE(MPI_Group) :: all_of_them, self
    integer(MPI_ADDRESS_KIND) :: no_bytes = 0
    integer :: at_window(1)
    logical :: over
    call MPI_Isend(sent, 1, MPI_INTEGER, rank, 8, MPI_COMM_WORLD, requests(2) IERR)
    over = .false.
    do while (.not. over)
      call MPI_Iprobe(rank, 8, MPI_COMM_WORLD, over, MPI_STATUS_IGNORE IERR)
    end do
    over = .false.
    do while (.not. over)
      call MPI_Improbe(rank, 8, MPI_COMM_WORLD, over, taken, MPI_STATUS_IGNORE IERR)
    end do
    got = -1
    call MPI_Mrecv(got, 1, MPI_INTEGER, taken, MPI_STATUS_IGNORE IERR)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE IERR)
    requests(1) = requests(2)
    call check_message('improbe', requests)
    if (ranks == 1) return
    call MPI_Win_create(at_window, no_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, window IERR)
    call MPI_Win_get_group(window, all_of_them IERR)
    call MPI_Group_incl(all_of_them, 1, [rank], self IERR)
    call MPI_Win_post(self, 0, window IERR)
    call MPI_Win_start(self, 0, window IERR)
    call MPI_Win_complete(window IERR)
    over = .false.
    do while (.not. over)
      call MPI_Win_test(window, over IERR)
    end do
    call MPI_Group_free(self IERR)
    call MPI_Group_free(all_of_them IERR)
    call MPI_Win_free(window IERR)
  end subroutine

  subroutine settings()
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Comm) :: comm
    integer :: none(1) = 0
    call MPI_Info_create(info IERR)
    call MPI_Info_set(info, 'gc_codec', '2:4' IERR)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, comm IERR)
    call MPI_Comm_set_info(comm, info IERR)
    call MPI_Comm_free(comm IERR)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, info, comm IERR)
    call MPI_Comm_free(comm IERR)
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, none, none, none, none, info, .false., comm IERR)
    call MPI_Comm_free(comm IERR)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, none, 0, none, none, info, .false., comm IERR)
    call MPI_Comm_free(comm IERR)
    call MPI_Info_free(info IERR)
    call MPI_Pcontrol(1)
  end subroutine
#ifdef AS_PLUGIN
end subroutine
#else
end program
#endif
