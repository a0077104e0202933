# How a build from nothing is short: several files of a module in one compilation, large headers parsed once.
# GRADCOLL_FAST_BUILD=OFF leaves both out.

# gradcoll_in_batches(TARGETS...): several files of a target at a time. Files with options of their own stay alone.
function(gradcoll_in_batches)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ${GRADCOLL_FAST_BUILD} UNITY_BUILD_BATCH_SIZE 16)
  foreach(target IN LISTS ARGN)
    # g++ takes what a batch includes for headers, where a type with members of an unnamed namespace would be wrong.
    target_compile_options(${target} PRIVATE $<$<AND:$<BOOL:${GRADCOLL_FAST_BUILD}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>)
  endforeach()
endfunction()

# gradcoll_optimise_little(TARGETS...): what a program runs a few times at most takes two thirds of the time to compile.
function(gradcoll_optimise_little)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:C,CXX>>:-O1>)
  endforeach()
endfunction()

# gradcoll_header_set(NAME [OPTIONS flags...] [LINK targets...] HEADERS <a> <b> ...): large headers of others, precompiled
# once for all targets that name the set.
function(gradcoll_header_set name)
  cmake_parse_arguments(arg "" "" "OPTIONS;LINK;HEADERS" ${ARGN})
  if(NOT GRADCOLL_FAST_BUILD)
    return()
  endif()
  set(source "${CMAKE_BINARY_DIR}/header_sets/${name}.cpp")
  file(GENERATE OUTPUT "${source}" CONTENT "// The precompiled headers ${name} need a file to belong to.\n")
  add_library(gradcoll_headers_${name} OBJECT "${source}")
  target_link_libraries(gradcoll_headers_${name} PRIVATE gradcoll_flags ${arg_LINK})
  # As in programs, which is where the sets are used; ccache wants the last one.
  set_target_properties(gradcoll_headers_${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(gradcoll_headers_${name} PRIVATE -fPIE ${arg_OPTIONS} -fpch-preprocess)
  target_precompile_headers(gradcoll_headers_${name} PRIVATE ${arg_HEADERS})
endfunction()

# gradcoll_use_header_set(TARGET NAME): the target must be compiled with the options of the set.
function(gradcoll_use_header_set target name)
  if(GRADCOLL_FAST_BUILD)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    target_precompile_headers(${target} REUSE_FROM gradcoll_headers_${name})
  endif()
endfunction()
