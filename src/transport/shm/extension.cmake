gradcoll_extension(transport shm SOURCES shm_transport.cpp)
