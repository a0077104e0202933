# Which MPI this build is for, and the launcher that belongs to it.
#
# GRADCOLL_MPI_FAMILY    openmpi, mpich, abi (the standard ABI of MPI 5, whoever implements it), or other; from what <mpi.h> defines, not from the names of programs
# GRADCOLL_MPIEXEC       the launcher of that MPI. On Debian `mpirun` is an alternative that may point to another MPI than
#                        `mpicc` does, so the name with the family in it goes first, in the folder of the compiler.
# build/X/launcher       the same for scripts/mpirun
include(CheckCSourceCompiles)

set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
foreach(pair "openmpi;OPEN_MPI" "mpich;MPICH_VERSION")
  list(GET pair 0 family)
  list(GET pair 1 macro)
  check_c_source_compiles("#include <mpi.h>\n#ifndef ${macro}\n#error\n#endif\nint main(void) { return 0; }"
    GRADCOLL_MPI_IS_${family})
endforeach()
check_c_source_compiles("#include <mpi.h>\n#if !defined(MPI_ABI_VERSION) || MPI_ABI_VERSION < 1\n#error\n#endif\nint main(void) { return 0; }"
  GRADCOLL_MPI_IS_abi)
unset(CMAKE_REQUIRED_LIBRARIES)

if(GRADCOLL_MPI_IS_openmpi)
  set(GRADCOLL_MPI_FAMILY openmpi)
elseif(GRADCOLL_MPI_IS_mpich)
  set(GRADCOLL_MPI_FAMILY mpich)
elseif(GRADCOLL_MPI_IS_abi)
  set(GRADCOLL_MPI_FAMILY abi)
else()
  set(GRADCOLL_MPI_FAMILY other)
endif()

get_filename_component(mpi_bin "${MPI_C_COMPILER}" DIRECTORY)
find_program(GRADCOLL_MPIEXEC NAMES mpirun.${GRADCOLL_MPI_FAMILY} mpiexec.${GRADCOLL_MPI_FAMILY} mpirun mpiexec
  HINTS "${mpi_bin}" NO_DEFAULT_PATH DOC "Launcher of the MPI that is built for")
if(NOT GRADCOLL_MPIEXEC)
  set_property(CACHE GRADCOLL_MPIEXEC PROPERTY VALUE "${MPIEXEC_EXECUTABLE}")
endif()
message(STATUS "gradcoll: MPI: ${GRADCOLL_MPI_FAMILY}, launcher ${GRADCOLL_MPIEXEC}")

# gradcoll_write_launcher(): what scripts/mpirun reads. The library that lets MPICH yield comes with the tests.
function(gradcoll_write_launcher)
  set(yield_library "")
  if(TARGET gradcoll_test_yield_when_idle)
    set(yield_library "$<TARGET_FILE:gradcoll_test_yield_when_idle>")
  endif()
  file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/launcher"
    CONTENT "launcher='${GRADCOLL_MPIEXEC}'\nfamily='${GRADCOLL_MPI_FAMILY}'\nyield_library='${yield_library}'\n")
endfunction()
