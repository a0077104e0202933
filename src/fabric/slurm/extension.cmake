gradcoll_extension(fabric_format slurm_conf SOURCES slurm_conf.cpp slurm_fabric.cpp slurm_addresses.cpp)
gradcoll_extension(fabric_format slurm_yaml SOURCES slurm_yaml.cpp)
