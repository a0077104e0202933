gradcoll_kernels(zip OF compress/zip/zip_kernels.cpp VECTOR_HEADERS compress/zip/zip_bytes_)
gradcoll_extension(codec zip SOURCES zip_stage.cpp ${kernels})
