// reduce/reduce_integer_cuda.cu - kernels for the GPU: sum, prod, min and max of integers.
#include "reduce/lane_ops.hpp"
#include "reduce/reduce_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel integer_kernel_cuda(ReduceOp op, ElementType type) {
    return arithmetic_integer_kernel<OnDevice>(op, type);
}

}  // namespace gradcoll
