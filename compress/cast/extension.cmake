gradcoll_kernels(bf16 OF compress/cast/bf16_kernels.cpp)
gradcoll_extension(codec cast SOURCES bf16_stage.cpp ${kernels})
gradcoll_extension(codec_cuda cast SOURCES bf16_cuda.cu)
