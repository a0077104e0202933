gradcoll_kernels(grid OF compress/grid/grid_kernels.cpp)
gradcoll_extension(codec grid SOURCES grid_stage.cpp ${kernels})
