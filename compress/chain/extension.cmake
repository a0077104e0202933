# The code of N:M is in these files, too: compress/nm/README.md, "A compiler trap".
set(no_ivopts "$<$<CXX_COMPILER_ID:GNU>:-fno-ivopts>")
set_source_files_properties("${gradcoll_extension_folder}/chain_scalar.cpp" PROPERTIES COMPILE_OPTIONS "${no_ivopts}")
gradcoll_kernels(chain OPTIONS "${no_ivopts}")
gradcoll_extension(codec chain SOURCES chain_stage.cpp chain_scalar.cpp ${kernels})
gradcoll_extension(codec_cuda chain SOURCES chain_cuda.cpp chain_2_4_int8_cuda.cu chain_1_4_int8_cuda.cu
  chain_2_4_int4_cuda.cu)
