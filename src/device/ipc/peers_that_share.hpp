// device/ipc/peers_that_share.hpp - whose device memory a rank can read in place.
#pragma once

#include <vector>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "memory/device.hpp"

namespace gradcoll {

/// Returns, by rank of `comm`, whether that rank and this one can read each other's device memory;
/// never oneself. It finds out by reading: every rank of a host shows a few bytes, every other
/// reads them. `device` is this rank's, null if it has none. Collective, also over ranks without
/// devices; one small reduction if nobody has any. Errors: transport (the MPI library's); what a
/// device refuses only means false.
Result<std::vector<bool>> peers_that_share(MPI_Comm comm, Device* device);

}  // namespace gradcoll
