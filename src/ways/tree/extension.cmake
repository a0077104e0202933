gradcoll_extension(way tree SOURCES tree_way.cpp)
