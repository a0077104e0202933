gradcoll_extension(source file SOURCES any_file.cpp)
gradcoll_extension(source file_inside)
gradcoll_extension(source file_between)
