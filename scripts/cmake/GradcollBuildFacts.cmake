# gradcoll_build_facts(target): lets `target` include "build_facts.hpp" - what this build is, as it was configured.
function(gradcoll_build_facts target)
  set(GRADCOLL_REVISION "")
  find_package(Git QUIET)
  if(GIT_FOUND AND EXISTS "${CMAKE_SOURCE_DIR}/.git")
    execute_process(COMMAND "${GIT_EXECUTABLE}" describe --tags --always
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE GRADCOLL_REVISION
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(GRADCOLL_CUDA_KERNELS 0)
  if(GRADCOLL_HAVE_CUDA)
    set(GRADCOLL_CUDA_KERNELS 1)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/build_facts")
  configure_file("${CMAKE_SOURCE_DIR}/scripts/cmake/build_facts.hpp.in" "${folder}/build_facts.hpp" @ONLY)
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
