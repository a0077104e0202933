gradcoll_extension(source fabric SOURCES fabric_file.cpp)
