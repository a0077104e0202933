gradcoll_extension(exchange spread SOURCES spread.cpp)
