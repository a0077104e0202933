gradcoll_kernels(quant)
gradcoll_extension(codec quant SOURCES quant_stage.cpp quant_scalar.cpp ${kernels})
gradcoll_extension(codec_cuda quant SOURCES quant_cuda.cpp int4_cuda.cu int8_cuda.cu int16_cuda.cu)
