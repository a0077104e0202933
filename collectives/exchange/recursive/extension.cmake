gradcoll_extension(exchange recursive SOURCES recursive.cpp)
