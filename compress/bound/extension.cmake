gradcoll_kernels(bound OF compress/bound/bound_kernels.cpp)
gradcoll_extension(codec bound SOURCES bound_stage.cpp ${kernels})
