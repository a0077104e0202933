gradcoll_extension(source automatic SOURCES slurm.cpp)
gradcoll_extension(source slurm)
