// mpi/mpi_reach.hpp - whether the MPI library itself reaches memory of devices; and memory that no
// plug-in serves, but that the MPI library reads and writes: it is copied to the host and back by
// messages of this process to itself.
#pragma once

#include "device/plugin.hpp"

namespace gradcoll {

/// Returns whether the MPI library takes memory of the plug-in's devices. GC_DEVICE=mpi=on says so;
/// with `auto`, for GPUs of NVIDIA, the MPI library answers (Open MPI's and MPICH's
/// MPIX_Query_cuda_support). Thread safe.
bool mpi_takes_memory_of(const DevicePlugin& plugin);
/// Returns the same for memory that no plug-in serves.
bool mpi_takes_unserved_memory();

/// Returns whether the MPI library surely does not take such memory. If it gives no answer this is
/// false: a program that hands it such memory knows better. Thread safe.
bool mpi_refuses_memory_of(const DevicePlugin& plugin);
/// Returns the same for memory that this process may have or get. Thread safe. Cheap where there is
/// no driver of devices.
bool may_have_memory_that_mpi_refuses();

/// Returns a plug-in for memory that no other serves (unserved_device). It only copies: its device
/// has no memory to give and no kernels, and its streams have done a copy when copy() returns. A
/// copy belongs between MPI_Init and MPI_Finalize, on threads that may call MPI. Errors of copies:
/// transport, naming the call of MPI. Thread safe.
const DevicePlugin& copies_by_mpi();

}  // namespace gradcoll
