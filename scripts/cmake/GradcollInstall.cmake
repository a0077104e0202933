# What is installed besides programs and plug-ins: the shared library, its headers, the CMake package, the pkg-config file,
# documents and examples. A component is a Debian package (GradcollPackages.cmake).
include(CMakePackageConfigHelpers)

set(gradcoll_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gradcoll")

install(TARGETS gradcoll EXPORT gradcollTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT lib NAMELINK_COMPONENT dev
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev
  FILES_MATCHING PATTERN "*.h" PATTERN "*.f90" PATTERN "*.inc")

install(EXPORT gradcollTargets NAMESPACE gradcoll:: DESTINATION "${gradcoll_cmake_dir}" COMPONENT dev)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/gradcollConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/gradcollConfig.cmake" INSTALL_DESTINATION "${gradcoll_cmake_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/gradcollConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/gradcollConfig.cmake" "${CMAKE_BINARY_DIR}/gradcollConfigVersion.cmake"
  DESTINATION "${gradcoll_cmake_dir}" COMPONENT dev)

file(RELATIVE_PATH GRADCOLL_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
# Programs find the library where it lies; where the system's linker looks anyway, nothing is said.
set(GRADCOLL_PC_RPATH " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(GRADCOLL_PC_RPATH "")
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/gradcoll.pc.in" "${CMAKE_BINARY_DIR}/gradcoll.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/gradcoll.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)

# Pages link to each other, also to those beside the code.
file(GLOB_RECURSE pages RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/collectives/*.md" "${CMAKE_SOURCE_DIR}/compress/*.md" "${CMAKE_SOURCE_DIR}/docs/*.md"
  "${CMAKE_SOURCE_DIR}/docs/*.png" "${CMAKE_SOURCE_DIR}/docs/*.svg" "${CMAKE_SOURCE_DIR}/docs/benchmarks/*.csv"
  "${CMAKE_SOURCE_DIR}/osu-bench/*.md"
  "${CMAKE_SOURCE_DIR}/src/*.md" "${CMAKE_SOURCE_DIR}/topology/*.md")
foreach(page README.md CHANGELOG.md CONTRIBUTING.md LICENSE SECURITY.md ${pages})
  get_filename_component(folder "${page}" DIRECTORY)
  install(FILES "${CMAKE_SOURCE_DIR}/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT doc)
endforeach()
install(DIRECTORY "${CMAKE_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc PATTERN "__pycache__" EXCLUDE)
