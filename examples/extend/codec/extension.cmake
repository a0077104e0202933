gradcoll_extension(codec zeros SOURCES zeros_stage.cpp)
