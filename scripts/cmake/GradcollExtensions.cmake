# What can be added without touching what is there: kinds with one table each. A member of a table is a folder with an
# extension.cmake; the table is the list of folders in one gradcoll_table(). Folders from outside the project join the
# tables if GRADCOLL_EXTEND names them: they look the same (docs/extending.md).
set(GRADCOLL_EXTEND "" CACHE STRING
  "Folders outside the project that extend it, separated by ';': each has an extension.cmake (docs/extending.md)")

# gradcoll_extension(KIND NAME SOURCES ...): in a folder's extension.cmake, once for each table that the folder joins.
# NAME becomes part of the name of a C++ function, which the kind's header declares.
function(gradcoll_extension kind name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  if(NOT kind STREQUAL gradcoll_table_kind)
    return()
  endif()
  get_property(names GLOBAL PROPERTY gradcoll_${kind}_names)
  if(name IN_LIST names)
    message(FATAL_ERROR "${gradcoll_extension_folder}: there is a ${kind} named ${name} already")
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${gradcoll_extension_folder}/" REGEX "^[^/]")
  set_property(GLOBAL APPEND PROPERTY gradcoll_${kind}_names ${name})
  set_property(GLOBAL APPEND PROPERTY gradcoll_${kind}_sources ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY gradcoll_folders_used "${gradcoll_extension_folder}")
  if(gradcoll_extension_folder IN_LIST GRADCOLL_EXTEND)
    set_property(GLOBAL APPEND PROPERTY gradcoll_outside_sources ${arg_SOURCES})
  endif()
endfunction()

# gradcoll_write_rows(KIND PART NAME...): the file KIND_PART.inc, a line GRADCOLL_ROW(NAME) for each.
function(gradcoll_write_rows kind part)
  list(TRANSFORM ARGN REPLACE "(.+)" "GRADCOLL_ROW(\\1)\n" OUTPUT_VARIABLE rows)
  list(JOIN rows "" rows)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/tables/${kind}/${kind}_${part}.inc" CONTENT "${rows}" @ONLY)
endfunction()

# gradcoll_table(KIND folders...): the table of a kind, in this order, then those of GRADCOLL_EXTEND. Sets KIND_sources,
# and writes the rows into KIND_table.inc, for modules that name the table under TABLES; and those of the project and of
# GRADCOLL_EXTEND apart into KIND_built_in.inc and KIND_outside.inc.
# The property gradcoll_KIND_built_in_count says how many rows are the project's own: tests hold only these to its pages.
function(gradcoll_table kind)
  set(gradcoll_table_kind ${kind})
  set(folders ${ARGN})
  list(TRANSFORM folders PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  foreach(gradcoll_extension_folder IN LISTS folders)
    include("${gradcoll_extension_folder}/extension.cmake")
  endforeach()
  get_property(built_in GLOBAL PROPERTY gradcoll_${kind}_names)
  list(LENGTH built_in built_in_count)
  gradcoll_write_rows(${kind} built_in ${built_in})
  set_property(GLOBAL PROPERTY gradcoll_${kind}_built_in_count ${built_in_count})
  foreach(gradcoll_extension_folder IN LISTS GRADCOLL_EXTEND)
    if(NOT IS_ABSOLUTE "${gradcoll_extension_folder}" OR NOT EXISTS "${gradcoll_extension_folder}/extension.cmake")
      message(FATAL_ERROR "GRADCOLL_EXTEND: ${gradcoll_extension_folder} is not allowed: "
        "an absolute path of a folder with an extension.cmake")
    endif()
    include("${gradcoll_extension_folder}/extension.cmake")
  endforeach()
  get_property(names GLOBAL PROPERTY gradcoll_${kind}_names)
  gradcoll_write_rows(${kind} table ${names})
  list(REMOVE_ITEM names ${built_in})
  gradcoll_write_rows(${kind} outside ${names})
  get_property(sources GLOBAL PROPERTY gradcoll_${kind}_sources)
  set(${kind}_sources ${sources} PARENT_SCOPE)
endfunction()

# gradcoll_finish_extensions(): after all tables. An outside folder of a kind that does not exist would otherwise do
# nothing without a word. A program `check` in an outside folder becomes a test of its own: it is given the build folder.
function(gradcoll_finish_extensions)
  get_property(used GLOBAL PROPERTY gradcoll_folders_used)
  foreach(folder IN LISTS GRADCOLL_EXTEND)
    if(NOT folder IN_LIST used)
      message(FATAL_ERROR "GRADCOLL_EXTEND: ${folder} extends no table; docs/extending.md has their names")
    endif()
    get_filename_component(name "${folder}" NAME)
    if(EXISTS "${folder}/check")
      add_test(NAME extend.${name} COMMAND "${folder}/check" "${CMAKE_BINARY_DIR}")
      set_tests_properties(extend.${name} PROPERTIES LABELS mpi TIMEOUT 300)
      gradcoll_uses_mpirun(extend.${name})
    endif()
  endforeach()
endfunction()
