gradcoll_extension(source expression SOURCES written_tree.cpp)
gradcoll_extension(source json)
