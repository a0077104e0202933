// mpi/mpi_reach.hpp - whether the MPI library itself reaches memory of devices.
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

}  // namespace gradcoll
