// base/mpi/host_comm.hpp - the ranks of a communicator that are on this rank's host.
#pragma once

#include <vector>

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// HostComm has the ranks in the order of the communicator that they are of. Its own communicator
/// has MPI_ERRORS_RETURN.
struct HostComm {
    /// Collective over `of`. Errors: transport.
    static Result<HostComm> make(MPI_Comm of);

    OwnedComm comm;
    int rank = 0;
    int size = 1;
    std::vector<int> ranks;  ///< one for each rank here: its number in the other communicator
};

}  // namespace gradcoll
