# What a user of the build may choose, and the compile flags that follow.
option(GRADCOLL_DEV "Build examples and benchmarks, and tests as GRADCOLL_TESTS says" ${PROJECT_IS_TOP_LEVEL})
option(GRADCOLL_WERROR "Warnings are errors, as in the presets for developers: other compilers know warnings which ours do not" OFF)
set(GRADCOLL_CUDA "AUTO" CACHE STRING "Build the CUDA kernels: AUTO (if nvcc is found), ON or OFF")
set_property(CACHE GRADCOLL_CUDA PROPERTY STRINGS AUTO ON OFF)
option(GRADCOLL_FORTRAN "Test programs in Fortran, if there is a compiler and the MPI has bindings" ON)
set(GRADCOLL_TESTS "none" CACHE STRING
  "Which tests and kernel benchmarks to build: none, all, or mpi (for a second MPI: what depends on the MPI library)")
set_property(CACHE GRADCOLL_TESTS PROPERTY STRINGS none all mpi)
if(NOT GRADCOLL_TESTS MATCHES "^(none|all|mpi)$")
  message(FATAL_ERROR "GRADCOLL_TESTS=${GRADCOLL_TESTS} is not allowed: none, all or mpi")
endif()
set(ranks all)
if(NOT "$ENV{GRADCOLL_RANKS}" STREQUAL "")
  set(ranks "$ENV{GRADCOLL_RANKS}")
endif()
set(GRADCOLL_RANKS "${ranks}" CACHE STRING
  "Of the numbers of ranks that a test is made for: all, or few (one, but for the tests of what all others rest on)")
set_property(CACHE GRADCOLL_RANKS PROPERTY STRINGS all few)
if(NOT GRADCOLL_RANKS MATCHES "^(all|few)$")
  message(FATAL_ERROR "GRADCOLL_RANKS=${GRADCOLL_RANKS} is not allowed: all or few")
endif()
set(with_tests ON)
if(GRADCOLL_TESTS STREQUAL "none")
  set(with_tests OFF)
endif()
option(GRADCOLL_SIMGRID "Build gradcoll simulate, if SimGrid is found" ${with_tests})
set(GRADCOLL_SANITIZE "" CACHE STRING "Sanitizers for everything: address,undefined or thread; empty for none")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Together they save half of the time of a build from nothing (docs/building.md). Off in debug builds: there one
# changed file is one compilation, and each file must include what it uses.
set(fast ON)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(fast OFF)
endif()
option(GRADCOLL_FAST_BUILD "Compile several files of a module at a time, and large headers once" ${fast})

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(GRADCOLL_CCACHE ccache)
if(GRADCOLL_CCACHE)
  # Without this ccache leaves alone what is compiled with a precompiled header.
  set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${GRADCOLL_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${GRADCOLL_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(gradcoll_flags INTERFACE)
# Contraction is off so that every instruction-set version of a kernel gives the same bits.
target_compile_options(gradcoll_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion;-ffp-contract=off>)
if(GRADCOLL_WERROR)
  target_compile_options(gradcoll_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(GRADCOLL_SANITIZE)
  target_compile_options(gradcoll_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${GRADCOLL_SANITIZE};-fno-omit-frame-pointer;-fno-sanitize-recover=all>)
  target_link_options(gradcoll_flags INTERFACE -fsanitize=${GRADCOLL_SANITIZE})
  if(GRADCOLL_SANITIZE MATCHES "address")
    # As an object: a C source in a test program would ask for the precompiled headers in C.
    add_library(gradcoll_keep_modules OBJECT "${CMAKE_SOURCE_DIR}/scripts/sanitizers/keep_modules.c")
    target_link_libraries(gradcoll_keep_modules PRIVATE gradcoll_flags)
    target_sources(gradcoll_flags INTERFACE
      $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:gradcoll_keep_modules>>)
  endif()
endif()
