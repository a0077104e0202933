gradcoll_extension(way mpi SOURCES mpi_way.cpp)
