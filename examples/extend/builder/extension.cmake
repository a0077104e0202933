gradcoll_extension(builder star SOURCES star.cpp)
