gradcoll_extension(source hwloc SOURCES hwloc.cpp)
