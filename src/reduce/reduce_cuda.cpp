// reduce/reduce_cuda.cpp - launch_reduce_cuda: the kernels of all ops and types.
#include "reduce/reduce_cuda.hpp"

#include "reduce/reduce_kernels_cuda.hpp"
#include "reduce/reduce_launch.hpp"

namespace gradcoll {
namespace {

BatchKernel kernel_of(ReduceOp op, ElementType type) {
    if (op >= ReduceOp::land) return logical_kernel_cuda(op, type);
    return is_floating(type) ? float_kernel_cuda(op, type) : integer_kernel_cuda(op, type);
}

}  // namespace

Status launch_reduce_cuda(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) {
    return launch_reduce(kernel_of, launch, jobs);
}

}  // namespace gradcoll
