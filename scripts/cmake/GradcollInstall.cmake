# What is installed: the shared library, its headers, the CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

set(gradcoll_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gradcoll")

install(TARGETS gradcoll EXPORT gradcollTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")

install(EXPORT gradcollTargets NAMESPACE gradcoll:: DESTINATION "${gradcoll_cmake_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gradcollConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/gradcollConfig.cmake" INSTALL_DESTINATION "${gradcoll_cmake_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/gradcollConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/gradcollConfig.cmake" "${CMAKE_BINARY_DIR}/gradcollConfigVersion.cmake"
  DESTINATION "${gradcoll_cmake_dir}")

file(RELATIVE_PATH GRADCOLL_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${CMAKE_CURRENT_LIST_DIR}/gradcoll.pc.in" "${CMAKE_BINARY_DIR}/gradcoll.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/gradcoll.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
