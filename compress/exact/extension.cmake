gradcoll_kernels(exact OF compress/exact/exact_kernels.cpp)
gradcoll_extension(codec exact SOURCES exact_stage.cpp ${kernels})
gradcoll_extension(codec_cuda exact SOURCES exact_cuda.cu)
