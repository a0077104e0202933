# Modulefiles of the installed tree, for environment-modules (Tcl) and Lmod (Lua).
foreach(kind tcl lua)
  configure_file("${CMAKE_SOURCE_DIR}/packaging/modulefiles/gradcoll.${kind}.in" "${CMAKE_BINARY_DIR}/gradcoll.${kind}" @ONLY)
endforeach()
set(modulefiles "${CMAKE_INSTALL_DATADIR}/gradcoll/modulefiles/gradcoll")
install(FILES "${CMAKE_BINARY_DIR}/gradcoll.tcl" DESTINATION "${modulefiles}" RENAME "${PROJECT_VERSION}" COMPONENT modules)
install(FILES "${CMAKE_BINARY_DIR}/gradcoll.lua" DESTINATION "${modulefiles}" RENAME "${PROJECT_VERSION}.lua" COMPONENT modules)
