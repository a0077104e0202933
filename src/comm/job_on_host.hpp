// comm/job_on_host.hpp - what the launcher says of the job's part on this host, before MPI
// runs.
#pragma once

#include <cstdint>
#include <optional>

namespace gradcoll {

struct JobOnHost {
    std::uint64_t name = 0;  ///< the same on all ranks of the job on this host, and on no others
    int rank = 0;            ///< rank of this process in MPI_COMM_WORLD
    int ranks = 1;
    int ranks_on_host = 1;
};

/// Returns nothing if the launcher does not say all of it: Open MPI's and Hydra do, Slurm's does
/// not.
std::optional<JobOnHost> job_on_host();

/// Returns 0 if the launcher does not say.
int ranks_on_host_by_launcher();

}  // namespace gradcoll
