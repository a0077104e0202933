gradcoll_extension(source probe SOURCES probed.cpp)
gradcoll_extension(source cache)
