// reduce/reduce_cuda.cu - launch_reduce_cuda: the kernels of all ops and types.
#include "reduce/lane_ops.hpp"
#include "reduce/reduce_launch.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {
namespace {

BatchKernel kernel_of(ReduceOp op, ElementType type) {
    if (op >= ReduceOp::land) return logical_kernel<OnDevice>(op, type);
    return is_floating(type) ? arithmetic_float_kernel<OnDevice>(op, type)
                             : arithmetic_integer_kernel<OnDevice>(op, type);
}

}  // namespace

Status launch_reduce_cuda(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) {
    return launch_reduce(kernel_of, launch, jobs);
}

}  // namespace gradcoll
