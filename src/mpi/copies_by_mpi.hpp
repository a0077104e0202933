// mpi/copies_by_mpi.hpp - memory of devices that no plug-in serves, but that the MPI library reads
// and writes: it is copied to the host and back by messages of this process to itself.
#pragma once

#include "device/plugin.hpp"

namespace gradcoll {

/// Returns a plug-in for such memory (unserved_device). It only copies: its device has no memory to
/// give and no kernels, and its streams have done a copy when copy() returns. A copy belongs
/// between MPI_Init and MPI_Finalize, on threads that may call MPI. Errors of copies: transport,
/// naming the call of MPI. Thread safe.
const DevicePlugin& copies_by_mpi();

}  // namespace gradcoll
