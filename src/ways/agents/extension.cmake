gradcoll_extension(way agents SOURCES agent_sums.cpp)
