// mpi/own_comm.hpp - a communicator of this rank alone, where no call of the program is in the way.
#pragma once

#include "base/mpi/mpi.hpp"

namespace gradcoll {

/// Makes a communicator of this rank alone, whose errors come back as codes. It is made of a group,
/// so that no call of the program's on MPI_COMM_SELF is in its way. Local. Errors: transport.
Result<OwnedComm> make_own_comm();

}  // namespace gradcoll
