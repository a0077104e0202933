gradcoll_extension(option topology SOURCES options.cpp)
gradcoll_extension(setting topology SOURCES readers.cpp)
