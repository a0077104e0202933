# gradcoll_module(NAME [COLD] [ROOT prefix] SOURCES ... [DEPS modules...] [LINK targets...] [TABLES kinds...])
# COLD: gradcoll_optimise_little().
# TABLES: of which the module includes KIND_table.inc (GradcollExtensions.cmake). The files that do so stay out of
# batches, which are then the same in builds with more rows: ccache has them.
#
# One folder is one static library gradcoll_NAME with the alias gradcoll::NAME. Its include path holds only
# itself and its DEPS, so an include that goes against the layers does not compile. Files are included as
# "NAME/file.hpp" (or "ROOT/file.hpp" for a folder below another one, such as topology/sources).
function(gradcoll_module name)
  cmake_parse_arguments(arg "COLD" "ROOT" "SOURCES;DEPS;LINK;TABLES" ${ARGN})
  if(NOT arg_ROOT)
    set(arg_ROOT ${name})
  endif()
  set(root "${CMAKE_BINARY_DIR}/roots/${name}")
  get_filename_component(parent "${root}/${arg_ROOT}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${root}/${arg_ROOT}" SYMBOLIC)

  add_library(gradcoll_${name} STATIC ${arg_SOURCES})
  add_library(gradcoll::${name} ALIAS gradcoll_${name})
  target_include_directories(gradcoll_${name} PUBLIC "${root}")
  target_link_libraries(gradcoll_${name} PRIVATE gradcoll_flags)
  if(arg_COLD)
    gradcoll_optimise_little(gradcoll_${name})
  endif()
  foreach(dep IN LISTS arg_DEPS)
    target_link_libraries(gradcoll_${name} PUBLIC gradcoll::${dep})
  endforeach()
  target_link_libraries(gradcoll_${name} PUBLIC ${arg_LINK})
  foreach(kind IN LISTS arg_TABLES)
    target_include_directories(gradcoll_${name} PRIVATE "${CMAKE_BINARY_DIR}/tables/${kind}")
  endforeach()
  gradcoll_in_batches(gradcoll_${name})
  # Names in files from outside the project are not chosen with those of the project in mind.
  get_property(outside GLOBAL PROPERTY gradcoll_outside_sources)
  foreach(source IN LISTS arg_SOURCES)
    set(rows "")
    if(arg_TABLES)
      file(STRINGS "${source}" rows REGEX "^#include \"[a-z_]+_table\\.inc\"")
    endif()
    if(rows OR source IN_LIST outside)
      set_source_files_properties("${source}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# gradcoll_in_library(NAME...): these modules see MPI's arguments, and are compiled into libgradcoll.so themselves.
function(gradcoll_in_library)
  list(TRANSFORM ARGN PREPEND gradcoll_ OUTPUT_VARIABLE targets)
  # The version script decides what leaves the library: GC_* and nothing else.
  set_target_properties(${targets} PROPERTIES CXX_VISIBILITY_PRESET default)
  set_property(GLOBAL APPEND PROPERTY gradcoll_library_modules ${targets})
endfunction()

# gradcoll_test(module.noun SOURCES ... [DEPS modules...] [LINK targets...] [LABELS ...])
# A GoogleTest program of one process. It does not depend on the MPI: builds with GRADCOLL_TESTS=mpi leave it out.
function(gradcoll_test name)
  if(GRADCOLL_TESTS STREQUAL "mpi")
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LINK;LABELS" ${ARGN})
  gradcoll_test_program(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} LINK ${arg_LINK} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set(seconds 300)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(seconds 3000)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT ${seconds})
endfunction()

# gradcoll_rank_counts(OUT counts... [CORE]): those of a test's rank counts, ascending, that this build tries. Where it
# tries one, that is 3, or else the next larger, or the largest. Of a CORE test it tries those up to 3 and the largest, if
# not for a second MPI.
function(gradcoll_rank_counts out)
  cmake_parse_arguments(arg "CORE" "" "" ${ARGN})
  set(counts ${arg_UNPARSED_ARGUMENTS})
  set(chosen ${counts})
  if(GRADCOLL_TESTS STREQUAL "mpi" OR (GRADCOLL_RANKS STREQUAL "few" AND NOT arg_CORE))
    foreach(ranks IN LISTS counts)
      set(chosen ${ranks})
      if(NOT ranks LESS 3)
        break()
      endif()
    endforeach()
  elseif(GRADCOLL_RANKS STREQUAL "few")
    list(POP_BACK counts largest)
    list(FILTER counts INCLUDE REGEX "^[123]$")
    set(chosen ${counts} ${largest})
  endif()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# gradcoll_mpi_test(module.noun RANKS 1 2 3 ... SOURCES ... [DEPS ...] [LINK ...] [ARGS ...] [ENV a=b ...] [NEEDS ...]
#                   [CORE] [ONE_MPI])
# A GoogleTest program under mpirun, one CTest entry for each rank count (gradcoll_rank_counts()); its main is
# tests/support/mpi_main.cpp. NEEDS: targets that it starts or loads. CORE: all others rest on what it tests; up to 3 ranks
# have the label core. ONE_MPI: the MPI does no more than start its ranks, so a second one leaves it out. With few rank
# counts a second MPI has CORE tests alone, beside those of unchanged programs: what is not CORE is not built by default.
function(gradcoll_mpi_test name)
  cmake_parse_arguments(arg "CORE;ONE_MPI" "" "SOURCES;DEPS;LINK;RANKS;ARGS;ENV;LABELS;NEEDS" ${ARGN})
  if(arg_ONE_MPI AND GRADCOLL_TESTS STREQUAL "mpi")
    return()
  endif()
  gradcoll_test_program(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS}
    LINK ${arg_LINK} gradcoll_test_support_mpi GTest::gtest)
  if(arg_NEEDS)
    add_dependencies(${name} ${arg_NEEDS})
  endif()
  set(core "")
  if(arg_CORE)
    set(core CORE)
  elseif(GRADCOLL_TESTS STREQUAL "mpi" AND GRADCOLL_RANKS STREQUAL "few")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  gradcoll_rank_counts(arg_RANKS ${arg_RANKS} ${core})
  foreach(ranks IN LISTS arg_RANKS)
    set(labels ${arg_LABELS})
    if(arg_CORE AND ranks LESS 4)
      list(APPEND labels core)
    endif()
    gradcoll_add_mpirun_test(${name}.np${ranks} RANKS ${ranks} ENV ${arg_ENV} LABELS ${labels}
      COMMAND $<TARGET_FILE:${name}> ${arg_ARGS})
  endforeach()
endfunction()

# gradcoll_add_mpirun_test(NAME RANKS n COMMAND ... [PRELOAD libraries...] [ENV a=b ...] [LABELS ...])
# Registers any command under the launcher of this build's MPI, with the flags that two shared cores and a root user
# need. PRELOAD: LD_PRELOAD of the ranks. Programs that are not built by default are not run.
function(gradcoll_add_mpirun_test name)
  cmake_parse_arguments(arg "" "RANKS" "COMMAND;PRELOAD;ENV;LABELS" ${ARGN})
  if("${arg_COMMAND}" MATCHES "TARGET_FILE:([^>]+)>")
    get_target_property(left_out ${CMAKE_MATCH_1} EXCLUDE_FROM_ALL)
    if(left_out)
      return()
    endif()
  endif()
  set(preload "")
  if(arg_PRELOAD)
    list(JOIN arg_PRELOAD ":" libraries)
    set(preload --preload "${libraries}")
  endif()
  add_test(NAME ${name}
    COMMAND "${CMAKE_SOURCE_DIR}/scripts/mpirun" ${preload} -n ${arg_RANKS} ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "mpi;${arg_LABELS}" TIMEOUT 300)
  gradcoll_uses_mpirun(${name})
  # All ranks are on one host, where codecs do not pay: by default tests of codecs would have none.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT GC_COMPRESS_IF=always ${arg_ENV})
  # Ranks of MPICH that wait keep each other's jobs from the cores, although they yield.
  if(GRADCOLL_MPI_FAMILY STREQUAL "mpich")
    set_tests_properties(${name} PROPERTIES PROCESSORS ${arg_RANKS})
  endif()
endfunction()

# Tests that start scripts/mpirun somewhere inside. Open MPI looks for fabrics through libfabric whenever a program
# starts, which takes longer than most tests; all ranks of tests are on one host.
function(gradcoll_uses_mpirun)
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT "GRADCOLL_BUILD=${CMAKE_BINARY_DIR}" "OMPI_MCA_mtl=^ofi,psm,psm2")
endfunction()

function(gradcoll_test_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE GRADCOLL_TESTS_DIR="${CMAKE_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE gradcoll_flags ${arg_LINK})
  gradcoll_optimise_little(${name}) # what is tested is optimised
  if(arg_LINK MATCHES "GTest::")
    gradcoll_use_header_set(${name} tests)
  endif()
  # GCC 12 reports overlaps and overruns that cannot be inside its own std::string, and under a sanitizer values that its
  # own std::regex had not set.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>)
  if(GRADCOLL_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  endif()
  foreach(dep IN LISTS arg_DEPS)
    target_link_libraries(${name} PRIVATE gradcoll::${dep})
  endforeach()
endfunction()

set(gradcoll_command_dir "${CMAKE_INSTALL_LIBEXECDIR}/gradcoll")

# gradcoll_program(TARGET [COMMAND_OF FRONT] [BUILD_ONLY]): a program that people start, or a command of one. It lies in the
# build folder as it does where it is installed, and finds the library in both. BUILD_ONLY: it is not installed.
function(gradcoll_program target)
  cmake_parse_arguments(arg "BUILD_ONLY" "COMMAND_OF" "" ${ARGN})
  set(folder "${CMAKE_INSTALL_BINDIR}")
  if(arg_COMMAND_OF)
    set(folder "${gradcoll_command_dir}")
    add_dependencies(${target} ${arg_COMMAND_OF})
  endif()
  file(RELATIVE_PATH lib "/${folder}" "/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${folder}" INSTALL_RPATH "$ORIGIN/${lib}")
  if(NOT arg_BUILD_ONLY)
    install(TARGETS ${target} RUNTIME DESTINATION "${folder}" COMPONENT bin)
  endif()
endfunction()
