gradcoll_extension(exchange direct SOURCES direct.cpp)
