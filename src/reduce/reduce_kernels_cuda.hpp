// reduce/reduce_kernels_cuda.hpp - the tables of reduce/lane_ops.hpp with kernels for the GPU, a
// file each so that they compile beside one another.
#pragma once

#include "reduce/device_reduce.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

BatchKernel float_kernel_cuda(ReduceOp op, ElementType type);
BatchKernel integer_kernel_cuda(ReduceOp op, ElementType type);
BatchKernel logical_kernel_cuda(ReduceOp op, ElementType type);

}  // namespace gradcoll
