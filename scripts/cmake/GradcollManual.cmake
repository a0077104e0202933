# Manual pages and bash completion, made by scripts/cmake/manual from what programs and headers say: pages of the tools (1), of
# every call (3), of files (5) and of the settings (7).
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "gradcoll: no manual pages: Python 3 is not there")
  return()
endif()
set(manual "${CMAKE_SOURCE_DIR}/scripts/cmake/manual")
set(man_dir "${CMAKE_BINARY_DIR}/man")
file(MAKE_DIRECTORY "${man_dir}/completions")

set(pages "")
# manual_pages(PROGRAM TARGET COMMANDS...): pages and completion of a program, and of its commands that this build makes.
function(manual_pages program target)
  set(programs "")
  foreach(command IN LISTS ARGN)
    set(one "${program}-${command}")
    if(TARGET ${one})
      get_target_property(folder ${one} SOURCE_DIR)
      get_directory_property(left_out DIRECTORY "${folder}" EXCLUDE_FROM_ALL)
      if(NOT left_out)
        list(APPEND programs ${one})
      endif()
    endif()
  endforeach()
  foreach(one ${target} ${programs})
    string(REPLACE "${target}" "${program}" name "${one}")
    set(page "${man_dir}/${name}.1.gz")
    set(overview "")
    if(name STREQUAL "gradcoll")
      set(overview "${CMAKE_SOURCE_DIR}/src/tools/overview.md")
    endif()
    add_custom_command(OUTPUT "${page}" COMMAND Python3::Interpreter "${manual}" tool $<TARGET_FILE:${one}> "${page}" ${overview}
      DEPENDS ${one} ${overview} "${manual}" "${CMAKE_SOURCE_DIR}/scripts/cmake/manual_parts/markdown.py" VERBATIM)
    list(APPEND pages "${page}")
    install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT bin)
    list(APPEND files "$<TARGET_FILE:${one}>")
  endforeach()
  set(completion "${man_dir}/completions/${program}")
  add_custom_command(OUTPUT "${completion}" COMMAND Python3::Interpreter "${manual}" completion "${completion}" ${files}
    DEPENDS ${target} ${programs} "${manual}" VERBATIM)
  install(FILES "${completion}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT bin)
  set(pages "${pages}" "${completion}" PARENT_SCOPE)
endfunction()
manual_pages(gradcoll gradcoll-command info plan move simulate tune top)
manual_pages(gc_nicd gc_nicd)
if(TARGET gc_bench)
  manual_pages(gc_bench gc_bench allreduce engine regret)
endif()
add_custom_command(OUTPUT "${man_dir}/gradcoll-settings.7.gz"
  COMMAND Python3::Interpreter "${manual}" settings $<TARGET_FILE:gradcoll-info> "${man_dir}/gradcoll-settings.7.gz"
  DEPENDS gradcoll-info "${manual}" VERBATIM)
install(FILES "${man_dir}/gradcoll-settings.7.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man7" COMPONENT bin)
set(trace "${CMAKE_SOURCE_DIR}/src/tools/trace/gradcoll-trace")
add_custom_command(OUTPUT "${man_dir}/gradcoll-trace.1.gz"
  COMMAND Python3::Interpreter "${manual}" script "${trace}" "${man_dir}/gradcoll-trace.1.gz"
  DEPENDS "${trace}" "${manual}" VERBATIM)
list(APPEND pages "${man_dir}/gradcoll-trace.1.gz")
install(FILES "${man_dir}/gradcoll-trace.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT bin)
# Files that people write or read.
set(gradcoll-topology_part "Where a tree comes from: `GC_TOPOLOGY`")
foreach(page gradcoll-topology:topology/README.md gradcoll-tuning:docs/tuning.md gradcoll-report:docs/report.md
    gradcoll-fabric:src/fabric/README.md)
  string(REPLACE ":" ";" page "${page}")
  list(GET page 0 name)
  list(GET page 1 source)
  add_custom_command(OUTPUT "${man_dir}/${name}.5.gz"
    COMMAND Python3::Interpreter "${manual}" file ${name} "${CMAKE_SOURCE_DIR}/${source}" "${man_dir}/${name}.5.gz" ${${name}_part}
    DEPENDS "${CMAKE_SOURCE_DIR}/${source}" "${manual}" "${CMAKE_SOURCE_DIR}/scripts/cmake/manual_parts/markdown.py" VERBATIM)
  list(APPEND pages "${man_dir}/${name}.5.gz")
  install(FILES "${man_dir}/${name}.5.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man5" COMPONENT bin)
endforeach()
file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/include/gradcoll/*.h")
add_custom_command(OUTPUT "${man_dir}/calls.made"
  COMMAND ${CMAKE_COMMAND} -E rm -rf "${man_dir}/calls" # what an older header had
  COMMAND ${CMAKE_COMMAND} -E make_directory "${man_dir}/calls"
  COMMAND Python3::Interpreter "${manual}" calls "${CMAKE_SOURCE_DIR}/include/gradcoll" "${man_dir}/calls"
  COMMAND ${CMAKE_COMMAND} -E touch "${man_dir}/calls.made"
  DEPENDS "${manual}" ${headers} VERBATIM)
install(DIRECTORY "${man_dir}/calls/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3" COMPONENT dev)
add_custom_target(gradcoll_manual ALL DEPENDS ${pages} "${man_dir}/gradcoll-settings.7.gz" "${man_dir}/calls.made")
