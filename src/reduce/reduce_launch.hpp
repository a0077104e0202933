// reduce/reduce_launch.hpp - the checks and batches of launch_reduce_cuda, apart from the kernels:
// so they run where there is no GPU, with kernels on emulated warps.
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

}  // namespace gradcoll
