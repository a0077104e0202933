// reduce/reduce_cuda.hpp - every reduction on a GPU of NVIDIA, behind the face of
// reduce/device_reduce.hpp. Only the CUDA plug-in and its tests link this.
#pragma once

#include <span>

#include "reduce/device_reduce.hpp"

namespace gradcoll {

/// Implements LaunchReduce; launch.stream is a cudaStream_t of the current device.
Status launch_reduce_cuda(const ReduceLaunch& launch, std::span<const ReduceJob> jobs);

}  // namespace gradcoll
