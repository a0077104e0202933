// gc_info/launcher.hpp - which process of how many this is, as its launcher says in the
// environment: known before MPI_Init, and without it.
#pragma once

namespace gc_info {

struct Launched {
    int rank = 0;
    int size = 1;
};

/// Of mpirun, mpiexec (hydra), srun; a process that nobody launched is the only one.
Launched launched();

}  // namespace gc_info
