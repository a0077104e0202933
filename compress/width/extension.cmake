gradcoll_kernels(width OF compress/quant/escape_kernels.cpp compress/width/width_kernels.cpp
  VECTOR_HEADERS compress/quant/quant_)
gradcoll_extension(codec width SOURCES width_stage.cpp ${kernels})
