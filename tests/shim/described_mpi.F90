! shim/described_mpi.F90 - the made-up layer of an MPI whose Fortran calls have descriptors for buffers, as Open MPI 6 has
! them: procedures that are not BIND(C) and go on to C functions (described_mpi.c), which get C descriptors.

module described_c
  use iso_c_binding
  implicit none
  interface
    subroutine described_reduction(which, sendbuf, recvbuf, count, datatype, op, comm, root, request, code) bind(C)
      import
      integer(c_int), value :: which
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer(c_int64_t), value :: count
      integer(c_int), value :: datatype, op, comm, root
      integer(c_int) :: request, code
    end subroutine
  end interface
end module

#define REDUCTION(name, number, KIND)                                                        \
subroutine name(sendbuf, recvbuf, count, datatype, op, comm, ierror);                        \
  use described_c; implicit none; integer :: none, code;                                     \
  type(*), dimension(..), intent(in) :: sendbuf; type(*), dimension(..) :: recvbuf;          \
  integer(KIND), intent(in) :: count; integer, intent(in) :: datatype, op, comm;             \
  integer, optional, intent(out) :: ierror;                                                  \
  call described_reduction(number, sendbuf, recvbuf, int(count, c_int64_t), datatype, op, comm, 0, none, code); \
  if (present(ierror)) ierror = code;                                                        \
end subroutine

REDUCTION(MPI_Allreduce_f08ts, 0, 4)
REDUCTION(MPI_Allreduce_c_f08ts, 0, 8)
REDUCTION(MPI_Allreduce_FTS, 0, 4)
REDUCTION(MPI_Reduce_scatter_block_f08ts, 1, 4)

subroutine MPI_Reduce_scatter_f08ts(sendbuf, recvbuf, counts, datatype, op, comm, ierror)
  use described_c
  implicit none
  type(*), dimension(..), intent(in) :: sendbuf
  type(*), dimension(..) :: recvbuf
  integer, intent(in) :: counts(*), datatype, op, comm
  integer, optional, intent(out) :: ierror
  integer :: none, code
  call described_reduction(1, sendbuf, recvbuf, int(counts(1), c_int64_t), datatype, op, comm, 0, none, code)
  if (present(ierror)) ierror = code
end subroutine

subroutine MPI_Allgather_f08ts(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror)
  use described_c
  implicit none
  type(*), dimension(..), intent(in) :: sendbuf
  type(*), dimension(..) :: recvbuf
  integer, intent(in) :: sendcount, sendtype, recvcount, recvtype, comm
  integer, optional, intent(out) :: ierror
  integer :: none, code
  call described_reduction(2, sendbuf, recvbuf, int(recvcount, c_int64_t), recvtype, 0, comm, 0, none, code)
  if (present(ierror)) ierror = code
end subroutine

subroutine MPI_Bcast_f08ts(buffer, count, datatype, root, comm, ierror)
  use described_c
  implicit none
  type(*), dimension(..) :: buffer
  integer, intent(in) :: count, datatype, root, comm
  integer, optional, intent(out) :: ierror
  integer :: none, code
  call described_reduction(3, buffer, buffer, int(count, c_int64_t), datatype, 0, comm, root, none, code)
  if (present(ierror)) ierror = code
end subroutine

subroutine MPI_Reduce_f08ts(sendbuf, recvbuf, count, datatype, op, root, comm, ierror)
  use described_c
  implicit none
  type(*), dimension(..), intent(in) :: sendbuf
  type(*), dimension(..) :: recvbuf
  integer, intent(in) :: count, datatype, op, root, comm
  integer, optional, intent(out) :: ierror
  integer :: none, code
  call described_reduction(4, sendbuf, recvbuf, int(count, c_int64_t), datatype, op, comm, root, none, code)
  if (present(ierror)) ierror = code
end subroutine

subroutine MPI_Iallreduce_f08ts(sendbuf, recvbuf, count, datatype, op, comm, request, ierror)
  use described_c
  implicit none
  type(*), dimension(..), intent(in) :: sendbuf
  type(*), dimension(..) :: recvbuf
  integer, intent(in) :: count, datatype, op, comm
  integer, intent(out) :: request
  integer, optional, intent(out) :: ierror
  integer :: code
  call described_reduction(5, sendbuf, recvbuf, int(count, c_int64_t), datatype, op, comm, 0, request, code)
  if (present(ierror)) ierror = code
end subroutine

subroutine MPI_Allreduce_init_f08ts(sendbuf, recvbuf, count, datatype, op, comm, info, request, ierror)
  use described_c
  implicit none
  type(*), dimension(..), intent(in) :: sendbuf
  type(*), dimension(..) :: recvbuf
  integer, intent(in) :: count, datatype, op, comm, info
  integer, intent(out) :: request
  integer, optional, intent(out) :: ierror
  integer :: code
  call described_reduction(6, sendbuf, recvbuf, int(count, c_int64_t), datatype, op, comm, 0, request, code)
  if (present(ierror)) ierror = code
end subroutine
