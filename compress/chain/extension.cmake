# The code of N:M is in these files, too: compress/nm/README.md, "A compiler trap".
set(no_ivopts "$<$<CXX_COMPILER_ID:GNU>:-fno-ivopts>")
gradcoll_kernels(chain OF compress/chain/chain_kernels.cpp
  VECTOR_HEADERS compress/nm/nm_packer_ compress/quant/quant_ OPTIONS "${no_ivopts}")
gradcoll_extension(codec chain SOURCES chain_stage.cpp ${kernels})
set(chain_kernels "")
foreach(keep_bits "2, 8" "1, 8" "2, 4")
  string(REPLACE ", " "_" name "${keep_bits}")
  gradcoll_instance(kernel chain_${name}_cuda.cu OF compress/chain/chain_kernel.cu
    LINES "#define GRADCOLL_KEEP_BITS ${keep_bits}")
  list(APPEND chain_kernels "${kernel}")
endforeach()
gradcoll_extension(codec_cuda chain SOURCES chain_cuda.cpp ${chain_kernels})
