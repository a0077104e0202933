gradcoll_kernels(quant OF compress/quant/quant_kernels.cpp VECTOR_HEADERS compress/quant/quant_)
# The kernels of quantization with a tolerance are compiled with those of compress/width.
gradcoll_extension(codec quant SOURCES quant_stage.cpp escape_stage.cpp ${kernels})
set(escape_kernels "")
foreach(bits 4 8 16)
  gradcoll_instance(kernel escape_int${bits}_cuda.cu OF compress/quant/escape_kernel.cu LINES "#define GRADCOLL_BITS ${bits}")
  list(APPEND escape_kernels "${kernel}")
endforeach()
gradcoll_extension(codec_cuda quant SOURCES quant_cuda.cu ${escape_kernels})
