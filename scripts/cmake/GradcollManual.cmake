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
foreach(tool gradcoll-info gradcoll-plan gradcoll-top gradcoll-tune gc_nicd gc_bench-allreduce gradcoll-simulate)
  if(TARGET ${tool})
    set(made "${man_dir}/${tool}.1.gz" "${man_dir}/completions/${tool}")
    add_custom_command(OUTPUT ${made} COMMAND Python3::Interpreter "${manual}" tool $<TARGET_FILE:${tool}> ${made}
      DEPENDS ${tool} "${manual}" VERBATIM)
    list(APPEND pages ${made})
    install(FILES "${man_dir}/${tool}.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT bin)
    install(FILES "${man_dir}/completions/${tool}" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
      COMPONENT bin)
  endif()
endforeach()
add_custom_command(OUTPUT "${man_dir}/gradcoll-settings.7.gz"
  COMMAND Python3::Interpreter "${manual}" settings $<TARGET_FILE:gradcoll-info> "${man_dir}/gradcoll-settings.7.gz"
  DEPENDS gradcoll-info "${manual}" VERBATIM)
install(FILES "${man_dir}/gradcoll-settings.7.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man7" COMPONENT bin)
set(merge_trace "${CMAKE_SOURCE_DIR}/scripts/merge-trace")
add_custom_command(OUTPUT "${man_dir}/gradcoll-trace.1.gz"
  COMMAND Python3::Interpreter "${manual}" script "${merge_trace}" gradcoll trace "${man_dir}/gradcoll-trace.1.gz"
  DEPENDS "${merge_trace}" "${manual}" VERBATIM)
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
