# One source, compiled several times: once for each instruction set, or for each instance of a template for which nvcc
# takes long.

# What kernels are compiled for. instruction_sets.hpp has GRADCOLL_SETS, their names, GRADCOLL_SET_NAMES, the same as
# texts, GRADCOLL_SET_TEXT, all in one text, and GRADCOLL_OF_SETS(name): the functions name_scalar, ... of all.
set(gradcoll_isas Scalar)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND gradcoll_isas Avx2 Avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  list(APPEND gradcoll_isas Neon)
endif()
string(TOLOWER "${gradcoll_isas}" sets)
list(TRANSFORM sets REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE names)
list(TRANSFORM sets PREPEND "name##_" OUTPUT_VARIABLE functions)
foreach(each sets names functions)
  list(JOIN ${each} ", " ${each})
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/tables/instruction_set/instruction_sets.hpp" @ONLY CONTENT "#pragma once

#define GRADCOLL_SETS ${sets}
#define GRADCOLL_SET_NAMES ${names}
#define GRADCOLL_SET_TEXT \"${sets}\"
#define GRADCOLL_OF_SETS(name) ${functions}
")

# gradcoll_instance(OUT NAME OF sources... LINES ... [OPTIONS flags...]): writes the file NAME, which has the lines and
# then includes the sources: paths below an include folder, or absolute ones. OUT becomes the file's path, for a module's
# SOURCES.
function(gradcoll_instance out name)
  cmake_parse_arguments(arg "" "" "OF;LINES;OPTIONS" ${ARGN})
  set(file "${CMAKE_CURRENT_BINARY_DIR}/instances/${name}")
  list(TRANSFORM arg_OF REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN arg_LINES "\n" lines)
  list(JOIN arg_OF "\n" sources)
  file(CONFIGURE OUTPUT "${file}" CONTENT "${lines}\n${sources}\n" @ONLY)
  if(arg_OPTIONS)
    set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS "${arg_OPTIONS}")
  endif()
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# gradcoll_kernels(PREFIX OF sources... [VECTOR_HEADERS prefixes...] [OPTIONS flags...]): sets `kernels` to
# PREFIX_scalar.cpp, PREFIX_avx2.cpp, ..., compiled with gradcoll_SET_options and the flags. Sources that use the same
# templates belong into one file, which has each instance once. In them GRADCOLL_ISA is the type Avx2 of the header
# "avx2.hpp" behind the prefix gradcoll_set_header, which is included, and GRADCOLL_OF_SET(name) is name_avx2.
# VECTOR_HEADERS: more such prefixes, of headers that scalar kernels do not have.
function(gradcoll_kernels prefix)
  cmake_parse_arguments(arg "" "" "OF;VECTOR_HEADERS;OPTIONS" ${ARGN})
  set(files "")
  foreach(isa IN LISTS gradcoll_isas)
    string(TOLOWER "${isa}" set)
    set(headers ${gradcoll_set_header})
    if(NOT set STREQUAL "scalar")
      list(APPEND headers ${arg_VECTOR_HEADERS})
    endif()
    list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1${set}.hpp\"")
    gradcoll_instance(file ${prefix}_${set}.cpp OF ${arg_OF} OPTIONS ${gradcoll_${set}_options} ${arg_OPTIONS}
      LINES "#define GRADCOLL_ISA ${isa}" "#define GRADCOLL_OF_SET(name) name##_${set}" ${headers})
    if(NOT set STREQUAL "scalar")
      set_source_files_properties("${file}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    list(APPEND files "${file}")
  endforeach()
  set(kernels ${files} PARENT_SCOPE)
endfunction()
