set(kernels exact_portable.cpp)
if(gradcoll_avx2_options)
  set(kernels exact_avx2.cpp exact_avx512.cpp)
  set_source_files_properties("${gradcoll_extension_folder}/exact_avx2.cpp"
    PROPERTIES COMPILE_OPTIONS "${gradcoll_avx2_options}")
  set_source_files_properties("${gradcoll_extension_folder}/exact_avx512.cpp"
    PROPERTIES COMPILE_OPTIONS "${gradcoll_avx512_options}")
endif()
gradcoll_extension(codec exact SOURCES exact_stage.cpp exact_scalar.cpp ${kernels})
gradcoll_extension(codec_cuda exact SOURCES exact_cuda.cu)
