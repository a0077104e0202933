// reduce/reduce_launch.hpp - every reduction on a GPU, behind the face of reduce/device_reduce.hpp.
// Checks and batches are apart from the kernels: so they run where there is no GPU, with kernels on
// emulated warps.
#pragma once

#include <span>

#include "reduce/device_reduce.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

/// A ReduceKernelOf returns the kernel for an op and a type; no launch if there is none.
using ReduceKernelOf = BatchKernel (*)(ReduceOp op, ElementType type);

/// Launches jobs, and checks all of them before the first is started. Errors: as LaunchReduce says.
Status launch_reduce(ReduceKernelOf kernel_of, const ReduceLaunch& launch,
                     std::span<const ReduceJob> jobs);

/// Implements LaunchReduce; launch.stream is a cudaStream_t of the current device. Only the CUDA
/// plug-in and its tests link this.
Status launch_reduce_cuda(const ReduceLaunch& launch, std::span<const ReduceJob> jobs);

}  // namespace gradcoll
