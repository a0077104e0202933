set(kernels bf16_portable.cpp)
if(gradcoll_avx2_options)
  set(kernels bf16_avx2.cpp bf16_avx512.cpp)
  set_source_files_properties("${gradcoll_extension_folder}/bf16_avx2.cpp"
    PROPERTIES COMPILE_OPTIONS "${gradcoll_avx2_options}")
  set_source_files_properties("${gradcoll_extension_folder}/bf16_avx512.cpp"
    PROPERTIES COMPILE_OPTIONS "${gradcoll_avx512_options}")
endif()
gradcoll_extension(codec cast SOURCES bf16_stage.cpp bf16_scalar.cpp ${kernels})
gradcoll_extension(codec_cuda cast SOURCES bf16_cuda.cu)
