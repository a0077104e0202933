! gradcoll/gradcoll.f90 - GC_ calls for Fortran 2018 with mpi_f08, as a source: compile it with the
! compiler of your program, as files of modules fit one compiler only.
!
!   mpifort INCLUDE/gradcoll/gradcoll.f90 program.f90 $(pkg-config --libs gradcoll) -o program
!
! Arguments, meaning and errors are those of the C calls of the same names, which the headers beside
! this file and the manual pages document. In Fortran:
! - Buffers are of any type and rank, and contiguous: a section with gaps is MPI_ERR_BUFFER.
!   MPI_IN_PLACE and MPI_BOTTOM are those of mpi_f08. Until a started sum is complete its buffers
!   must not be touched: give them the attribute ASYNCHRONOUS.
! - Counts are default integers or of MPI_COUNT_KIND, steps are of kind int64.
! - `ierror` is optional; without it only the communicator's error handler tells of an error.
! - Texts may have blanks at their end, which are left out.
! - The inputs of GC_Accumulate are addresses (c_loc).
! inspect.h with its GC_Stats, and mover.h, are for C alone.
module gradcoll
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_int, c_loc, &
      c_long_long, c_null_char, c_null_ptr, c_ptr, c_size_t
  use mpi_f08, only: MPI_BOTTOM, MPI_Comm, MPI_COMM_WORLD, MPI_COUNT_KIND, MPI_Datatype, &
      MPI_Info, MPI_IN_PLACE, MPI_Op, MPI_Request
  implicit none
  private

  integer, parameter, public :: GC_MAX_ERROR_STRING = 1024

  ! These are null until they are made, as in C.
  type, bind(c), public :: GC_Request
    type(c_ptr) :: pointer = c_null_ptr
  end type
  type, bind(c), public :: GC_Residual
    type(c_ptr) :: pointer = c_null_ptr
  end type
  type, bind(c), public :: GC_Engine
    type(c_ptr) :: pointer = c_null_ptr
  end type
  type, bind(c), public :: GC_Handle
    type(c_ptr) :: pointer = c_null_ptr
  end type

  public :: GC_Accumulate, GC_Allgather, GC_Allreduce, GC_Allreduce_init, GC_Allreduce_residual, &
      GC_Comm_attach, GC_Comm_get_option, GC_Comm_set_codec, GC_Comm_set_info, GC_Comm_set_option, &
      GC_Comm_set_schedule, GC_Comm_set_stream, GC_Comm_shrink, GC_Engine_create, GC_Engine_flush, &
      GC_Engine_free, GC_Engine_get_residual, GC_Engine_reconfigure
  public :: GC_Error_string, GC_Get_version, GC_Handle_test, GC_Handle_wait, GC_Handle_waitall, &
      GC_Iallreduce, GC_Reduce_scatter_block, GC_Reduce_scatter_block_residual, GC_Request_free, &
      GC_Request_get_residual, GC_Request_set_step, GC_Residual_create, &
      GC_Residual_create_for_blocks, GC_Residual_free, GC_Residual_hand_over, GC_Residual_load, &
      GC_Residual_reset, GC_Residual_save
  public :: GC_Residual_scale, GC_Residual_size, GC_Start, GC_Startall, GC_Step, GC_Submit, &
      GC_Test, GC_Type_bfloat16, GC_Type_float16, GC_Wait, GC_Waitall

  interface GC_Allreduce
    module procedure allreduce, allreduce_c
  end interface
  interface GC_Accumulate
    module procedure accumulate, accumulate_c
  end interface
  interface GC_Allreduce_residual
    module procedure allreduce_residual, allreduce_residual_c
  end interface
  interface GC_Reduce_scatter_block_residual
    module procedure reduce_scatter_block_residual, reduce_scatter_block_residual_c
  end interface
  interface GC_Iallreduce
    module procedure iallreduce, iallreduce_c
  end interface
  interface GC_Allreduce_init
    module procedure allreduce_init, allreduce_init_c
  end interface
  interface GC_Residual_create
    module procedure residual_create, residual_create_c
  end interface
  interface GC_Residual_create_for_blocks
    module procedure residual_create_for_blocks, residual_create_for_blocks_c
  end interface
  interface GC_Engine_get_residual
    module procedure engine_get_residual, engine_get_residual_c
  end interface
  interface GC_Submit
    module procedure submit, submit_c
  end interface

  include 'gradcoll_c.inc'

contains

  include 'gradcoll_engine.inc'
  include 'gradcoll_residual.inc'

  ! The address that the C call gets of a buffer.
  type(c_ptr) function place_of(buffer) result(place)
    type(*), dimension(..), intent(in), target :: buffer
    place = address_of(buffer)
    if (c_associated(place, address_of(MPI_BOTTOM))) place = c_null_ptr
    if (c_associated(place, address_of(MPI_IN_PLACE))) place = c_in_place()
  end function

  type(c_ptr) function address_of(buffer) result(address)
    type(*), dimension(..), intent(in), target :: buffer
    address = c_loc(buffer)
  end function

  function c_text(text) result(ended)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=:), allocatable :: ended
    ended = trim(text) // c_null_char
  end function

  subroutine tell(code, ierror)
    integer(c_int), intent(in) :: code
    integer, optional, intent(out) :: ierror
    if (present(ierror)) ierror = code
  end subroutine

  subroutine allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    call allreduce_c(sendbuf, recvbuf, int(count, MPI_COUNT_KIND), datatype, op, comm, ierror)
  end subroutine
  subroutine allreduce_c(sendbuf, recvbuf, count, datatype, op, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    if (is_contiguous(sendbuf) .and. is_contiguous(recvbuf)) then
      code = c_allreduce(place_of(sendbuf), place_of(recvbuf), count, datatype%MPI_VAL, &
          op%MPI_VAL, comm%MPI_VAL)
    else
      code = c_not_contiguous(comm%MPI_VAL)
    end if
    call tell(code, ierror)
  end subroutine

  subroutine iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call iallreduce_c(sendbuf, recvbuf, int(count, MPI_COUNT_KIND), datatype, op, comm, request, &
        ierror)
  end subroutine
  subroutine iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    if (is_contiguous(sendbuf) .and. is_contiguous(recvbuf)) then
      code = c_iallreduce(place_of(sendbuf), place_of(recvbuf), count, datatype%MPI_VAL, &
          op%MPI_VAL, comm%MPI_VAL, request%MPI_VAL)
    else
      code = c_not_contiguous(comm%MPI_VAL)
    end if
    call tell(code, ierror)
  end subroutine

  subroutine allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(GC_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call allreduce_init_c(sendbuf, recvbuf, int(count, MPI_COUNT_KIND), datatype, op, comm, &
        info, request, ierror)
  end subroutine
  subroutine allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    type(*), dimension(..), asynchronous :: recvbuf
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    type(GC_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    if (is_contiguous(sendbuf) .and. is_contiguous(recvbuf)) then
      code = c_allreduce_init(place_of(sendbuf), place_of(recvbuf), count, datatype%MPI_VAL, &
          op%MPI_VAL, comm%MPI_VAL, info%MPI_VAL, request)
    else
      code = c_not_contiguous(comm%MPI_VAL)
    end if
    call tell(code, ierror)
  end subroutine

  subroutine GC_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    if (is_contiguous(sendbuf) .and. is_contiguous(recvbuf)) then
      code = c_reduce_scatter_block(place_of(sendbuf), place_of(recvbuf), recvcount, &
          datatype%MPI_VAL, op%MPI_VAL, comm%MPI_VAL)
    else
      code = c_not_contiguous(comm%MPI_VAL)
    end if
    call tell(code, ierror)
  end subroutine

  subroutine GC_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
    type(*), dimension(..), intent(in) :: sendbuf
    integer, intent(in) :: sendcount
    type(MPI_Datatype), intent(in) :: sendtype
    type(*), dimension(..) :: recvbuf
    integer, intent(in) :: recvcount
    type(MPI_Datatype), intent(in) :: recvtype
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    if (is_contiguous(sendbuf) .and. is_contiguous(recvbuf)) then
      code = c_allgather(place_of(sendbuf), place_of(recvbuf), sendcount, sendtype%MPI_VAL, &
          recvcount, recvtype%MPI_VAL, comm%MPI_VAL)
    else
      code = c_not_contiguous(comm%MPI_VAL)
    end if
    call tell(code, ierror)
  end subroutine

  subroutine accumulate(inputs, input_count, output, count, datatype, op, ierror)
    type(c_ptr), intent(in) :: inputs(*)
    integer, intent(in) :: input_count
    type(*), dimension(..) :: output
    integer, intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    integer, optional, intent(out) :: ierror
    call accumulate_c(inputs, input_count, output, int(count, MPI_COUNT_KIND), datatype, op, ierror)
  end subroutine
  subroutine accumulate_c(inputs, input_count, output, count, datatype, op, ierror)
    type(c_ptr), intent(in) :: inputs(*)
    integer, intent(in) :: input_count
    type(*), dimension(..) :: output
    integer(MPI_COUNT_KIND), intent(in) :: count
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Op), intent(in) :: op
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code
    if (is_contiguous(output)) then
      code = c_accumulate(inputs, input_count, place_of(output), count, datatype%MPI_VAL, &
          op%MPI_VAL)
    else
      code = c_not_contiguous(MPI_COMM_WORLD%MPI_VAL)
    end if
    call tell(code, ierror)
  end subroutine

  subroutine GC_Start(request, ierror)
    type(GC_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call tell(c_start(request), ierror)
  end subroutine

  subroutine GC_Wait(request, ierror)
    type(GC_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call tell(c_wait(request), ierror)
  end subroutine

  subroutine GC_Startall(count, requests, ierror)
    integer, intent(in) :: count
    type(GC_Request), intent(inout) :: requests(*)
    integer, optional, intent(out) :: ierror
    call tell(c_startall(count, requests), ierror)
  end subroutine

  subroutine GC_Waitall(count, requests, ierror)
    integer, intent(in) :: count
    type(GC_Request), intent(inout) :: requests(*)
    integer, optional, intent(out) :: ierror
    call tell(c_waitall(count, requests), ierror)
  end subroutine

  subroutine GC_Test(request, flag, ierror)
    type(GC_Request), intent(inout) :: request
    logical, intent(out) :: flag
    integer, optional, intent(out) :: ierror
    integer(c_int) :: code, is_done
    is_done = 0
    code = c_test(request, is_done)
    flag = is_done /= 0
    call tell(code, ierror)
  end subroutine

  subroutine GC_Request_free(request, ierror)
    type(GC_Request), intent(inout) :: request
    integer, optional, intent(out) :: ierror
    call tell(c_request_free(request), ierror)
  end subroutine

  subroutine GC_Request_set_step(request, step, ierror)
    type(GC_Request), intent(in) :: request
    integer(c_long_long), intent(in) :: step
    integer, optional, intent(out) :: ierror
    call tell(c_request_set_step(request, step), ierror)
  end subroutine

  subroutine GC_Comm_attach(comm, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierror
    call tell(c_comm_attach(comm%MPI_VAL), ierror)
  end subroutine

  ! `newcomm` is MPI_COMM_NULL if the call fails.
  subroutine GC_Comm_shrink(comm, newcomm, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Comm), intent(out) :: newcomm
    integer, optional, intent(out) :: ierror
    call tell(c_comm_shrink(comm%MPI_VAL, newcomm%MPI_VAL), ierror)
  end subroutine

  subroutine GC_Comm_set_stream(comm, stream, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror
    call tell(c_comm_set_stream(comm%MPI_VAL, stream), ierror)
  end subroutine

  subroutine GC_Comm_set_codec(comm, codec, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: codec
    integer, optional, intent(out) :: ierror
    call tell(c_comm_set_codec(comm%MPI_VAL, c_text(codec)), ierror)
  end subroutine

  subroutine GC_Comm_set_schedule(comm, schedule, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: schedule
    integer, optional, intent(out) :: ierror
    call tell(c_comm_set_schedule(comm%MPI_VAL, c_text(schedule)), ierror)
  end subroutine

  subroutine GC_Comm_set_info(comm, info, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Info), intent(in) :: info
    integer, optional, intent(out) :: ierror
    call tell(c_comm_set_info(comm%MPI_VAL, info%MPI_VAL), ierror)
  end subroutine

  subroutine GC_Step(comm, step, ierror)
    type(MPI_Comm), intent(in) :: comm
    integer(c_long_long), intent(in) :: step
    integer, optional, intent(out) :: ierror
    call tell(c_step(comm%MPI_VAL, step), ierror)
  end subroutine

  subroutine GC_Comm_set_option(comm, key, value, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: key, value
    integer, optional, intent(out) :: ierror
    call tell(c_comm_set_option(comm%MPI_VAL, c_text(key), c_text(value)), ierror)
  end subroutine

  ! `length` is that of the whole text, of which `value` gets as much as it holds.
  subroutine GC_Comm_get_option(comm, key, value, length, ierror)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: key
    character(len=*), intent(out) :: value
    integer, intent(out) :: length
    integer, optional, intent(out) :: ierror
    character(kind=c_char, len=len(value) + 1) :: text
    integer(c_int) :: code, found
    found = 0
    code = c_comm_get_option(comm%MPI_VAL, c_text(key), text, len(text, c_int), found)
    value = text(1:min(found, len(value)))
    length = found
    call tell(code, ierror)
  end subroutine

  subroutine GC_Error_string(code, text, length, ierror)
    integer, intent(in) :: code
    character(len=*), intent(out) :: text
    integer, intent(out) :: length
    integer, optional, intent(out) :: ierror
    character(kind=c_char, len=GC_MAX_ERROR_STRING) :: whole
    integer(c_int) :: result, found
    result = c_error_string(code, whole, found)
    text = whole(1:found)
    length = min(found, len(text))
    call tell(result, ierror)
  end subroutine

  subroutine GC_Get_version(major, minor, patch, ierror)
    integer, intent(out) :: major, minor, patch
    integer, optional, intent(out) :: ierror
    call tell(c_get_version(major, minor, patch), ierror)
  end subroutine

  type(MPI_Datatype) function GC_Type_float16() result(datatype)
    datatype%MPI_VAL = c_type_float16()
  end function
  type(MPI_Datatype) function GC_Type_bfloat16() result(datatype)
    datatype%MPI_VAL = c_type_bfloat16()
  end function

end module
