# Debian packages: each component of the installation is one. `scripts/package` configures for /usr and makes them; in
# any other build folder `cpack -G DEB` does, for its own prefix. A build for MPICH makes one package, whose library
# lies beside that for Open MPI in a folder of its own.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gradcoll)
set(CPACK_PACKAGE_VENDOR "Gradcoll")
set(CPACK_PACKAGE_CONTACT "Gradcoll maintainers <maintainers@gradcoll.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/src/api")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# gradcoll_debian_package(COMPONENT PACKAGE SECTION SHORT LONG [DEPENDS...])
function(gradcoll_debian_package component package section short long)
  string(TOUPPER "${component}" key)
  string(REPLACE ";" ", " depends "${ARGN}")
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME "${package}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION "${section}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${short}\n${long}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(folder "${CMAKE_INSTALL_DATADIR}/doc/${package}")
  install(FILES "${CMAKE_SOURCE_DIR}/packaging/debian/copyright" DESTINATION "${folder}" COMPONENT ${component})
  install(FILES "${CMAKE_BINARY_DIR}/changelog.Debian.gz" DESTINATION "${folder}" COMPONENT ${component})
  set(GRADCOLL_PACKAGED "${GRADCOLL_PACKAGED};${component}" PARENT_SCOPE)
endfunction()

# The same bytes from the same source: no name, no time of the build.
execute_process(COMMAND gzip -9n INPUT_FILE "${CMAKE_SOURCE_DIR}/packaging/debian/changelog"
  OUTPUT_FILE "${CMAKE_BINARY_DIR}/changelog.Debian.gz")

set(about "Gradcoll sums long vectors, such as gradients, over the ranks of an MPI job. It\nfollows the tree of cores, hosts and switches that it finds, and can compress\nwhat travels between them.")
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(GRADCOLL_PACKAGED "")
if(GRADCOLL_MPI_FAMILY STREQUAL "mpich")
  gradcoll_debian_package(mpich gradcoll-mpich libs "allreduce over trees for MPICH programs"
    "${about}\n\nThis package has the library and its interposer for programs of MPICH. Preload\n/usr/${gradcoll_shim_dir}/libgradcoll_pmpi.so.")
  install(TARGETS gradcoll LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpich NAMELINK_SKIP)
  install(TARGETS gradcoll_pmpi LIBRARY DESTINATION "${gradcoll_shim_dir}" COMPONENT mpich)
else()
  gradcoll_debian_package(lib libgradcoll${GRADCOLL_SOVERSION} libs "allreduce over trees for MPI programs"
    "${about}\n\nThis package has the library, for Open MPI.")
  gradcoll_debian_package(dev libgradcoll-dev libdevel "allreduce over trees for MPI programs, headers"
    "${about}\n\nThis package has headers, and files for CMake and pkg-config."
    "libgradcoll${GRADCOLL_SOVERSION} ${same}" "gradcoll-openmpi ${same}" libopenmpi-dev)
  gradcoll_debian_package(bin gradcoll-bin utils "allreduce over trees for MPI programs, tools"
    "${about}\n\nThis package has gradcoll, which tells what the library would do and why,\nalso on machines that are not there, gc_bench, which measures it, and gc_nicd."
    "libgradcoll${GRADCOLL_SOVERSION} ${same}" python3)
  gradcoll_debian_package(python python3-gradcoll python "allreduce over trees for MPI programs, Python"
    "${about}\n\nThis package is for Python programs with mpi4py, numpy and PyTorch."
    "libgradcoll${GRADCOLL_SOVERSION} ${same}" python3 python3-mpi4py python3-numpy)
  gradcoll_debian_package(shim gradcoll-openmpi libs "allreduce over trees for unchanged Open MPI programs"
    "${about}\n\nThis package has the interposer for programs of Open MPI. Preload\n/usr/${gradcoll_shim_dir}/libgradcoll_pmpi.so."
    "libgradcoll${GRADCOLL_SOVERSION} ${same}")
  gradcoll_debian_package(doc gradcoll-doc doc "allreduce over trees for MPI programs, documentation"
    "${about}\n\nThis package has pages and example programs.")
  foreach(everywhere DOC PYTHON)
    set(CPACK_DEBIAN_${everywhere}_PACKAGE_ARCHITECTURE all)
    set(CPACK_DEBIAN_${everywhere}_PACKAGE_SHLIBDEPS OFF)
  endforeach()
  set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA "${CMAKE_SOURCE_DIR}/packaging/debian/triggers")
endif()
set(CPACK_COMPONENTS_ALL ${GRADCOLL_PACKAGED})
include(CPack)
