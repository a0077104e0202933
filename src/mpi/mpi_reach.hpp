// mpi/mpi_reach.hpp - whether the MPI library itself reaches memory of devices.
#pragma once

#include "device/plugin.hpp"

namespace gradcoll {

/// As GC_DEVICE_MPI says; with `auto`, for GPUs of NVIDIA, what the MPI library answers (Open MPI's
/// and MPICH's MPIX_Query_cuda_support). Thread safe.
bool mpi_takes_memory_of(const DevicePlugin& plugin);
/// The same for memory that no plug-in serves.
bool mpi_takes_unserved_memory();

/// Whether it surely does not. Of a library that gives no answer, a program that hands it such
/// memory knows better. Thread safe.
bool mpi_refuses_memory_of(const DevicePlugin& plugin);
/// The same for memory that this process may have or get. Thread safe. Cheap where there is no
/// driver of devices.
bool may_have_memory_that_mpi_refuses();

}  // namespace gradcoll
