gradcoll_kernels(exact)
gradcoll_extension(codec exact SOURCES exact_stage.cpp exact_scalar.cpp ${kernels})
gradcoll_extension(codec_cuda exact SOURCES exact_cuda.cu)
