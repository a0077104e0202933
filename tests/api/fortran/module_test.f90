! tests/api/fortran/module_test.f90 - every call of `use gradcoll`, held against MPI's own or against what must come out.
module checks
  use mpi_f08
  implicit none
  integer :: failures = 0, rank = 0, ranks = 0
contains
  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
  end subroutine
end module

program module_test
  use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int16, int64, real64
  use mpi_f08
  use gradcoll
  use checks
  implicit none
  integer :: provided, all_failures

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call blocking()
  call in_blocks()
  call nonblocking()
  call persistent()
  call settings()
  call with_residual()
  call with_residual_of_blocks()
  call with_kept_residual()
  call with_engine()
  call with_other_ranks()
  call with_own_vectors()
  call errors()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. all_failures == 0) print '(a)', 'use gradcoll: right'
  call MPI_Finalize()
  if (all_failures /= 0) error stop 1

contains

  ! Values that all ranks can sum without rounding.
  elemental real function value_of(index, of_rank)
    integer, intent(in) :: index, of_rank
    value_of = real(mod(index * 7 + of_rank, 1000))
  end function

  subroutine fill(mine, sums)
    real, intent(out) :: mine(:), sums(:)
    integer :: i
    mine = [(value_of(i, rank), i = 1, size(mine))]
    call MPI_Allreduce(mine, sums, size(mine), MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
  end subroutine

  subroutine blocking()
    real :: mine(50000), sums(50000), got(50000), box(10, 20), boxed(10, 20)
    integer :: ierror, one, most, i
    call fill(mine, sums)
    got = -1
    call GC_Allreduce(mine, got, size(mine), MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(ierror == MPI_SUCCESS .and. all(got == sums), 'GC_Allreduce')
    got = mine
    call GC_Allreduce(MPI_IN_PLACE, got, int(size(mine), MPI_COUNT_KIND), MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(got == sums), 'GC_Allreduce in place, a count of MPI_COUNT_KIND')
    call GC_Allreduce(rank, most, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call expect(most == ranks - 1, 'GC_Allreduce of a scalar')
    box = reshape([(value_of(i, rank), i = 1, size(box))], shape(box))
    boxed = box
    call GC_Allreduce(box(:, 2:3), boxed(:, 2:3), 20, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(boxed(:, 1) == box(:, 1)) .and. all(boxed(:, 2:3) == reshape(sums(11:30), [10, 2])), 'columns of a matrix')
    call GC_Get_version(one, most, i)
    call expect(one >= 0 .and. one + most + i > 0, 'GC_Get_version')
  end subroutine

  subroutine in_blocks()
    real :: mine(1000 * ranks), sums(1000 * ranks), got(1000), gathered(1000 * ranks)
    call fill(mine, sums)
    call GC_Reduce_scatter_block(mine, got, 1000, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(got == sums(1000 * rank + 1:1000 * rank + 1000)), 'GC_Reduce_scatter_block')
    call GC_Allgather(got, 1000, MPI_REAL, gathered, 1000, MPI_REAL, MPI_COMM_WORLD)
    call expect(all(gathered == sums), 'GC_Allgather')
  end subroutine

  subroutine nonblocking()
    real, asynchronous :: mine(50000), got(50000)
    real :: sums(50000)
    type(MPI_Request) :: requests(2)
    real(real64), asynchronous :: one, total
    call fill(mine, sums)
    one = 1
    call GC_Comm_attach(MPI_COMM_WORLD)
    call GC_Iallreduce(mine, got, size(mine), MPI_REAL, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call GC_Iallreduce(one, total, 1_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(all(got == sums) .and. total == ranks, 'GC_Iallreduce')
  end subroutine

  subroutine persistent()
    real, asynchronous :: mine(50000), got(50000), other(50000)
    real :: sums(50000)
    type(GC_Request) :: requests(2)
    logical :: is_done
    integer :: step
    call fill(mine, sums)
    call GC_Allreduce_init(mine, got, size(mine), MPI_REAL, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
    call GC_Allreduce_init(MPI_IN_PLACE, other, int(size(mine), MPI_COUNT_KIND), MPI_REAL, MPI_SUM, MPI_COMM_WORLD, &
        MPI_INFO_NULL, requests(2))
    do step = 1, 3
      got = -1
      other = mine
      call GC_Request_set_step(requests(1), int(step, int64))
      call GC_Startall(2, requests)
      call GC_Waitall(2, requests)
      call expect(all(got == sums) .and. all(other == sums), 'GC_Startall, GC_Waitall')
    end do
    got = -1
    call GC_Start(requests(1))
    is_done = .false.
    do while (.not. is_done)
      call GC_Test(requests(1), is_done)
    end do
    call expect(all(got == sums), 'GC_Start, GC_Test')
    got = -1
    call GC_Start(requests(1))
    call GC_Wait(requests(1))
    call expect(all(got == sums), 'GC_Wait')
    call GC_Request_free(requests(1))
    call GC_Request_free(requests(2))
  end subroutine

  subroutine settings()
    type(MPI_Comm) :: comm
    type(MPI_Info) :: info
    real :: mine(100000), sums(100000), got(100000)
    character(len=40) :: value
    character(len=2) :: short
    integer :: length
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call GC_Comm_set_option(comm, 'gc_compress_if', 'always  ')
    call GC_Comm_set_codec(comm, '1:4 ')
    call GC_Comm_get_option(comm, 'gc_codec', value, length)
    call expect(value == '1:4' .and. length == 3, 'GC_Comm_set_codec, GC_Comm_get_option: ' // value)
    call GC_Comm_get_option(comm, 'gc_codec', short, length)
    call expect(short == '1:' .and. length == 3, 'a text that is cut')
    call fill(mine, sums)
    call GC_Allreduce(mine, got, size(mine), MPI_REAL, MPI_SUM, comm)
    call expect(ranks == 1 .or. any(got /= sums), 'the codec is used')
    call GC_Comm_set_schedule(comm, '0:4:4,5:2:4')
    call GC_Step(comm, 0_int64)
    call GC_Allreduce(mine, got, size(mine), MPI_REAL, MPI_SUM, comm)
    call expect(all(got == sums), 'GC_Comm_set_schedule, GC_Step')
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'gc_codec', 'int8')
    call GC_Comm_set_info(comm, info)
    call MPI_Info_free(info)
    call GC_Comm_get_option(comm, 'gc_codec', value, length)
    call expect(value == 'int8', 'GC_Comm_set_info: ' // value)
    call MPI_Comm_free(comm)
  end subroutine

  subroutine with_residual()
    type(MPI_Comm) :: comm
    type(GC_Residual) :: residual
    real :: mine(100000), sums(100000), got(100000), total(100000)
    integer :: call_number
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call GC_Comm_set_option(comm, 'gc_compress_if', 'always')
    call GC_Comm_set_codec(comm, '2:4')
    call fill(mine, sums)
    call GC_Residual_create(comm, size(mine), MPI_REAL, residual)
    total = 0
    do call_number = 1, 30
      call GC_Allreduce_residual(mine, got, size(mine), MPI_REAL, MPI_SUM, comm, residual)
      total = total + got / 30
    end do
    ! What one call drops comes with another.
    call expect(norm2(total - sums) < 0.1 * norm2(sums), 'GC_Allreduce_residual')
    call GC_Residual_scale(residual, 0.5_real64)
    call GC_Residual_reset(residual)
    call GC_Residual_free(residual)
    call MPI_Comm_free(comm)
  end subroutine

  subroutine with_engine()
    type(GC_Engine) :: engine
    type(GC_Handle) :: handles(3)
    real, asynchronous :: mine(50000), got(50000, 3)
    real :: sums(50000)
    logical :: is_done
    call fill(mine, sums)
    call GC_Engine_create(MPI_COMM_WORLD, MPI_INFO_NULL, engine)
    call GC_Submit(engine, 'one', mine, got(:, 1), size(mine), MPI_REAL, MPI_SUM, 0, handles(1))
    call GC_Submit(engine, 'two ', mine, got(:, 2), int(size(mine), MPI_COUNT_KIND), MPI_REAL, MPI_SUM, 1, handles(2))
    call GC_Submit(engine, 'three', mine, got(:, 3), size(mine), MPI_REAL, MPI_SUM, 2, handles(3))
    call GC_Engine_flush(engine)
    is_done = .false.
    do while (.not. is_done)
      call GC_Handle_test(handles(1), is_done)
    end do
    call GC_Handle_wait(handles(2))
    call GC_Handle_waitall(1, handles(3))
    call expect(all(got == spread(sums, 2, 3)), 'sums of an engine')
    call GC_Engine_free(engine)
  end subroutine

  subroutine with_residual_of_blocks()
    type(MPI_Comm) :: comm
    type(GC_Residual) :: residual, other
    real :: mine(20000 * ranks), sums(20000 * ranks), got(20000), total(20000)
    integer :: call_number
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call GC_Comm_set_option(comm, 'gc_compress_if', 'always')
    call GC_Comm_set_codec(comm, '2:4')
    call fill(mine, sums)
    call GC_Residual_create_for_blocks(comm, 20000, MPI_REAL, residual)
    call GC_Residual_create_for_blocks(comm, 20000_MPI_COUNT_KIND, MPI_REAL, other)
    total = 0
    do call_number = 1, 30
      if (mod(call_number, 2) == 0) then
        call GC_Reduce_scatter_block_residual(mine, got, 20000, MPI_REAL, MPI_SUM, comm, residual)
      else
        call GC_Reduce_scatter_block_residual(mine, got, 20000_MPI_COUNT_KIND, MPI_REAL, MPI_SUM, comm, residual)
      end if
      total = total + got / 30
    end do
    associate (own => sums(20000 * rank + 1:20000 * rank + 20000))
      call expect(norm2(total - own) < 0.1 * norm2(own), 'GC_Reduce_scatter_block_residual')
    end associate
    call GC_Residual_free(residual)
    call GC_Residual_free(other)
    call MPI_Comm_free(comm)
  end subroutine

  ! A checkpoint brings back what was dropped, and what is handed over is in the vector.
  subroutine with_kept_residual()
    type(MPI_Comm) :: comm
    type(GC_Residual) :: residual
    type(GC_Request) :: request
    real :: mine(100000), sums(100000), first(100000), again(100000), dropped(100000)
    character(len=1), allocatable :: bytes(:)
    integer(c_size_t) :: size_bytes
    integer :: ierror
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call GC_Comm_set_option(comm, 'gc_compress_if', 'always')
    call GC_Comm_set_codec(comm, '2:4')
    call fill(mine, sums)
    call GC_Residual_create(comm, size(mine, kind=MPI_COUNT_KIND), MPI_REAL, residual)
    call GC_Allreduce_residual(mine, first, size(mine), MPI_REAL, MPI_SUM, comm, residual)
    call GC_Residual_size(residual, size_bytes)
    allocate (bytes(size_bytes))
    call GC_Residual_save(residual, bytes, size_bytes)
    call GC_Allreduce_residual(mine, first, size(mine), MPI_REAL, MPI_SUM, comm, residual)
    call GC_Residual_load(residual, bytes, size_bytes)
    call GC_Allreduce_residual(mine, again, size(mine, kind=MPI_COUNT_KIND), MPI_REAL, MPI_SUM, comm, residual)
    call expect(all(first == again), 'GC_Residual_save, GC_Residual_load')
    call GC_Residual_load(residual, bytes, size_bytes - 1, ierror)
    call expect(ierror /= MPI_SUCCESS, 'a checkpoint that was cut')
    dropped = 0
    call GC_Residual_hand_over(residual, dropped)
    call expect(ranks == 1 .or. any(dropped /= 0), 'GC_Residual_hand_over')
    call GC_Residual_save(residual, bytes, size_bytes)
    again = 0
    call GC_Residual_hand_over(residual, again)
    call expect(all(again == 0), 'nothing is handed over twice')
    call GC_Residual_free(residual)
    call GC_Allreduce_init(mine, again, size(mine), MPI_REAL, MPI_SUM, comm, MPI_INFO_NULL, request)
    call GC_Request_get_residual(request, residual)
    call GC_Residual_size(residual, size_bytes)
    call expect(size_bytes > 0, 'GC_Request_get_residual')
    call GC_Request_free(request)
    call MPI_Comm_free(comm)
  end subroutine

  ! An engine goes on with the ranks of another communicator; one that has lost nobody may shrink,
  ! where the MPI library can.
  subroutine with_other_ranks()
    type(GC_Engine) :: engine
    type(GC_Handle) :: handle
    type(GC_Residual) :: residual, same
    type(MPI_Comm) :: first, second, shrunk
    type(MPI_Info) :: info
    real, asynchronous :: mine(50000), got(50000)
    real :: sums(50000)
    integer :: ierror, class, size_of_it
    call fill(mine, sums)
    call MPI_Comm_dup(MPI_COMM_WORLD, first)
    call MPI_Comm_dup(MPI_COMM_WORLD, second)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'gc_codec', 'int8')
    call GC_Engine_create(first, info, engine)
    call MPI_Info_free(info)
    call GC_Engine_get_residual(engine, 'one', size(mine), MPI_REAL, residual)
    call GC_Engine_get_residual(engine, 'one ', size(mine, kind=MPI_COUNT_KIND), MPI_REAL, same)
    call expect(c_associated_both(residual, same), 'GC_Engine_get_residual')
    call GC_Engine_reconfigure(engine, second)
    call MPI_Comm_free(first)
    call GC_Submit(engine, 'two', mine, got, size(mine), MPI_REAL, MPI_MAX, 0, handle)
    call GC_Handle_wait(handle)
    call MPI_Allreduce(mine, sums, size(mine), MPI_REAL, MPI_MAX, MPI_COMM_WORLD)
    call expect(all(got == sums), 'GC_Engine_reconfigure')
    call GC_Engine_free(engine)
    call MPI_Comm_set_errhandler(second, MPI_ERRORS_RETURN)
    shrunk = MPI_COMM_WORLD
    call GC_Comm_shrink(second, shrunk, ierror)
    if (ierror == MPI_SUCCESS) then
      call MPI_Comm_size(shrunk, size_of_it)
      call expect(size_of_it == ranks, 'GC_Comm_shrink')
      call MPI_Comm_free(shrunk)
    else
      call MPI_Error_class(ierror, class)
      call expect(class == MPI_ERR_UNSUPPORTED_OPERATION .and. shrunk == MPI_COMM_NULL, 'GC_Comm_shrink without ULFM')
    end if
    call MPI_Comm_free(second)
  end subroutine

  logical function c_associated_both(one, other)
    use, intrinsic :: iso_c_binding, only: c_associated
    type(GC_Residual), intent(in) :: one, other
    c_associated_both = .not. c_associated(one%pointer) .and. .not. c_associated(other%pointer)
    if (c_associated(one%pointer)) c_associated_both = c_associated(one%pointer, other%pointer)
  end function

  subroutine with_own_vectors()
    real, target :: parts(1000, 3)
    real :: total(1000), again(1000)
    integer(int16) :: halves(4), sums(4)
    type(c_ptr) :: inputs(3)
    type(MPI_Comm) :: comm
    integer :: i, ierror
    do i = 1, 3
      parts(:, i) = real(i)
      inputs(i) = c_loc(parts(1, i))
    end do
    call GC_Accumulate(inputs, 3, total, 1000, MPI_REAL, MPI_SUM)
    call GC_Accumulate(inputs, 3, again, 1000_MPI_COUNT_KIND, MPI_REAL, MPI_MAX)
    call expect(all(total == 6) .and. all(again == 3), 'GC_Accumulate')
    ! 1.0 of both kinds of 16 bits.
    halves = int(z'3c00', int16)
    call GC_Allreduce(halves, sums, 4, GC_Type_float16(), MPI_MAX, MPI_COMM_WORLD)
    call expect(all(sums == halves), 'GC_Type_float16')
    halves = int(z'3f80', int16)
    call GC_Allreduce(halves, sums, 4, GC_Type_bfloat16(), MPI_MAX, MPI_COMM_WORLD)
    call expect(all(sums == halves), 'GC_Type_bfloat16')
    ! Without a device that is an error that all can see; with one it is none.
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call GC_Comm_set_stream(comm, c_null_ptr, ierror)
    call MPI_Error_class(ierror, i)
    call expect(ierror == MPI_SUCCESS .or. i == MPI_ERR_UNSUPPORTED_OPERATION, 'GC_Comm_set_stream')
    call MPI_Comm_free(comm)
  end subroutine

  subroutine errors()
    real :: mine(20), got(20)
    type(MPI_Request) :: request
    character(len=GC_MAX_ERROR_STRING) :: text
    integer :: code, class, length
    mine = 1
    call GC_Allreduce(mine, got, -1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_COUNT, 'a negative count')
    call GC_Error_string(code, text, length)
    call expect(index(text(1:length), '-1') > 0, 'its text: ' // text(1:length))
    call GC_Allreduce(mine(1:19:2), got(1:10), 10, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_BUFFER, 'a section with gaps')
    call GC_Error_string(code, text, length)
    call expect(index(text(1:length), 'gaps') > 0, 'its text: ' // text(1:length))
    call GC_Iallreduce(mine, got(1:19:2), 10, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_BUFFER, 'a section with gaps, nonblocking')
  end subroutine
end program
