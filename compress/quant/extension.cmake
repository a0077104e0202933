gradcoll_kernels(quant OF compress/quant/quant_kernels.cpp VECTOR_HEADERS compress/quant/quant_)
set(quant_kernels ${kernels})
gradcoll_kernels(escape OF compress/quant/escape_kernels.cpp VECTOR_HEADERS compress/quant/quant_)
gradcoll_extension(codec quant SOURCES quant_stage.cpp ${quant_kernels} escape_stage.cpp ${kernels})
gradcoll_extension(codec_cuda quant SOURCES quant_cuda.cpp int4_cuda.cu int8_cuda.cu int16_cuda.cu
  escape_int4_cuda.cu escape_int8_cuda.cu escape_int16_cuda.cu)
