gradcoll_kernels(bf16)
gradcoll_extension(codec cast SOURCES bf16_stage.cpp bf16_scalar.cpp ${kernels})
gradcoll_extension(codec_cuda cast SOURCES bf16_cuda.cu)
