gradcoll_extension(transport mpi SOURCES mpi_transport.cpp)
