# What is installed: the shared library, its headers, the CMake package and the pkg-config file.
