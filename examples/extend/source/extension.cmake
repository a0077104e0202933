gradcoll_extension(source pairs SOURCES pairs.cpp)
