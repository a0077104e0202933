! shim/from_group.F90 - a communicator with info that is made of a group, in the style that STYLE_MPIF, STYLE_MPI or
! STYLE_F08 says.
program from_group
#ifdef STYLE_F08
  use mpi_f08
#elif defined(STYLE_MPI)
  use mpi
#endif
  implicit none
#ifdef STYLE_MPIF
  include 'mpif.h'
#endif
#ifdef STYLE_F08
  type(MPI_Group) :: group
  type(MPI_Info) :: info
  type(MPI_Comm) :: made
#else
  integer :: group, info, made
#endif
  integer :: ierror, ranks, all_ranks

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, all_ranks, ierror)
  call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'gc_codec', '2:4', ierror) ! what the double of the core counts
  call MPI_Comm_create_from_group(group, 'gradcoll.from_group', info, MPI_ERRORS_RETURN, made, ierror)
  call MPI_Comm_size(made, ranks, ierror)
  if (ranks == all_ranks) print '(a)', 'from_group: right'
#ifdef STYLE_F08
  call MPI_Comm_free(made)
#else
  call MPI_Comm_free(made, ierror)
#endif
  call MPI_Finalize(ierror)
end program
