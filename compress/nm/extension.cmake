# g++ 12 at -O3 writes the address of a block's values as 4 * (address of a mask word) - 3 * (address of the block), no
# longer sees that it points into the block, and drops stores to it (compress/nm/README.md, "A compiler trap").
set(no_ivopts "$<$<CXX_COMPILER_ID:GNU>:-fno-ivopts>")
gradcoll_kernels(nm OF compress/nm/nm_kernels.cpp VECTOR_HEADERS compress/nm/nm_packer_ OPTIONS "${no_ivopts}")
gradcoll_extension(codec nm SOURCES nm_stage.cpp ${kernels})
gradcoll_extension(codec_cuda nm SOURCES nm_cuda.cu)
