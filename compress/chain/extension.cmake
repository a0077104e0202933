# The code of N:M is in these files, too: compress/nm/README.md, "A compiler trap".
set(no_ivopts "$<$<CXX_COMPILER_ID:GNU>:-fno-ivopts>")
gradcoll_kernels(chain OF compress/chain/chain_kernels.cpp
  VECTOR_HEADERS compress/nm/nm_packer_ compress/quant/quant_ OPTIONS "${no_ivopts}")
gradcoll_extension(codec chain SOURCES chain_stage.cpp ${kernels})
gradcoll_extension(codec_cuda chain SOURCES chain_cuda.cpp chain_2_4_int8_cuda.cu chain_1_4_int8_cuda.cu
  chain_2_4_int4_cuda.cu)
