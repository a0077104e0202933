gradcoll_extension(fabric_format csv SOURCES csv.cpp)
