// reduce/reduce_float_cuda.cu - kernels for the GPU: sum, prod, min and max of floats.
#include "reduce/lane_ops.hpp"
#include "reduce/reduce_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel float_kernel_cuda(ReduceOp op, ElementType type) {
    return arithmetic_float_kernel<OnDevice>(op, type);
}

}  // namespace gradcoll
