gradcoll_extension(source flat SOURCES flat.cpp)
