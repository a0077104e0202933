gradcoll_extension(exchange ring SOURCES ring.cpp)
