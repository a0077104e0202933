gradcoll_extension(way one_host SOURCES one_host.cpp)
