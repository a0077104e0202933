gradcoll_extension(fabric_format racks SOURCES racks.cpp)
