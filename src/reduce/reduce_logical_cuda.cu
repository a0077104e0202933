// reduce/reduce_logical_cuda.cu - kernels for the GPU: logical and bitwise ops of integers.
#include "reduce/lane_ops.hpp"
#include "reduce/reduce_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel logical_kernel_cuda(ReduceOp op, ElementType type) {
    return logical_kernel<OnDevice>(op, type);
}

}  // namespace gradcoll
