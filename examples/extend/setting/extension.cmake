gradcoll_extension(option profile SOURCES option.cpp)
gradcoll_extension(setting profile SOURCES reader.cpp)
