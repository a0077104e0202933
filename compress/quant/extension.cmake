gradcoll_kernels(quant)
set(quant_kernels ${kernels})
gradcoll_kernels(escape)
gradcoll_extension(codec quant SOURCES quant_stage.cpp quant_scalar.cpp ${quant_kernels} escape_stage.cpp escape_scalar.cpp
  ${kernels})
gradcoll_extension(codec_cuda quant SOURCES quant_cuda.cpp int4_cuda.cu int8_cuda.cu int16_cuda.cu
  escape_int4_cuda.cu escape_int8_cuda.cu escape_int16_cuda.cu)
