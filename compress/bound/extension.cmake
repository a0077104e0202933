gradcoll_kernels(bound)
gradcoll_extension(codec bound SOURCES bound_stage.cpp bound_scalar.cpp ${kernels})
