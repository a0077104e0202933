gradcoll_extension(source none SOURCES none.cpp)
