gradcoll_extension(transport fifo SOURCES fifo_transport.cpp fifo_channel.cpp traffic.cpp pipes.cpp)
