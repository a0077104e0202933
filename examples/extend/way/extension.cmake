gradcoll_extension(way pair SOURCES pair_way.cpp)
