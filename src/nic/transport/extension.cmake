gradcoll_extension(transport nic SOURCES nic_transport.cpp)
