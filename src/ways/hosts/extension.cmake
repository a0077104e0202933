gradcoll_extension(way hosts SOURCES several_hosts.cpp)
