# Which MPI this build is for, and the launcher that belongs to it. It finds the MPI, too.
#
# GRADCOLL_MPI_FAMILY    openmpi, mpich, intel, abi (the standard ABI of MPI 5, whoever implements it), or other; from what <mpi.h> defines, not from the names of programs
# GRADCOLL_MPICHS_SONAME the name by which the loader knows the library, if it has MPICH's ABI (mpich and intel) and can be read; else empty
# GRADCOLL_MPIEXEC       the launcher of that MPI. On Debian `mpirun` is an alternative that may point to another MPI than
#                        `mpicc` does, so the name with the family in it goes first, in the folder of the compiler.
# build/X/launcher       the same for scripts/mpirun
include(CheckCSourceCompiles)

# Intel's compiler wrapper writes a placeholder for its folder if the environment does not name it.
if(MPI_C_COMPILER AND NOT DEFINED ENV{I_MPI_ROOT})
  get_filename_component(mpi_root "${MPI_C_COMPILER}" REALPATH)
  get_filename_component(mpi_root "${mpi_root}" DIRECTORY)
  if(EXISTS "${mpi_root}/impi_info")
    get_filename_component(mpi_root "${mpi_root}" DIRECTORY)
    set(ENV{I_MPI_ROOT} "${mpi_root}")
  endif()
endif()
if(GRADCOLL_HAVE_FORTRAN)
  find_package(MPI REQUIRED COMPONENTS C OPTIONAL_COMPONENTS Fortran)
  set(GRADCOLL_HAVE_FORTRAN "${MPI_Fortran_FOUND}")
else()
  find_package(MPI REQUIRED COMPONENTS C)
endif()
# Intel's wrapper means $ORIGIN by the `$` of these, which a linker takes for a folder of that name.
foreach(target MPI::MPI_C MPI::MPI_Fortran)
  if(TARGET ${target})
    get_property(options TARGET ${target} PROPERTY INTERFACE_LINK_OPTIONS)
    string(REGEX REPLACE "-Wl[$]<COMMA>-rpath[$]<COMMA>[$][^ >;]*" "" options "${options}")
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_OPTIONS "${options}")
  endif()
endforeach()

set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
# gradcoll_check_mpi(FAMILY CONDITION): GRADCOLL_MPI_IS_FAMILY
function(gradcoll_check_mpi family condition)
  check_c_source_compiles("#include <mpi.h>\n#if !(${condition})\n#error\n#endif\nint main(void) { return 0; }"
    GRADCOLL_MPI_IS_${family})
endfunction()
gradcoll_check_mpi(openmpi "defined(OPEN_MPI)")
gradcoll_check_mpi(intel "defined(I_MPI_VERSION) && defined(MPICH_VERSION)")
gradcoll_check_mpi(mpich "defined(MPICH_VERSION)")
gradcoll_check_mpi(abi "defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0")
unset(CMAKE_REQUIRED_LIBRARIES)

set(GRADCOLL_MPI_FAMILY other)
foreach(family openmpi intel mpich abi) # a header of the first ones may say what the last ones do
  if(GRADCOLL_MPI_IS_${family})
    set(GRADCOLL_MPI_FAMILY ${family})
    break()
  endif()
endforeach()

set(GRADCOLL_MPICHS_SONAME "")
if(GRADCOLL_MPI_FAMILY MATCHES "^(mpich|intel)$" AND CMAKE_READELF)
  list(GET MPI_C_LIBRARIES 0 library)
  # MPICH's package for Python has a linker script there, which names the library beside it.
  file(STRINGS "${library}" script LIMIT_INPUT 1000 LIMIT_COUNT 1 REGEX "^INPUT[(][^ )]+[)]$")
  if(script MATCHES "^INPUT[(]([^ )]+)[)]$")
    get_filename_component(folder "${library}" DIRECTORY)
    set(library "${folder}/${CMAKE_MATCH_1}")
  endif()
  execute_process(COMMAND "${CMAKE_READELF}" -d "${library}" OUTPUT_VARIABLE said ERROR_QUIET)
  if(said MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    set(GRADCOLL_MPICHS_SONAME "${CMAKE_MATCH_1}")
  endif()
endif()

# Intel's mpirun takes the first mpiexec.hydra of PATH, which may be MPICH's.
set(launchers mpirun.${GRADCOLL_MPI_FAMILY} mpiexec.${GRADCOLL_MPI_FAMILY} mpirun mpiexec)
if(GRADCOLL_MPI_FAMILY STREQUAL "intel")
  set(launchers mpiexec.hydra)
endif()
get_filename_component(mpi_bin "${MPI_C_COMPILER}" DIRECTORY)
find_program(GRADCOLL_MPIEXEC NAMES ${launchers}
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
