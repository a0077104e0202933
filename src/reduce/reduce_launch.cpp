// reduce/reduce_launch.cpp - from jobs of a caller to batches of warps.
#include "reduce/reduce_launch.hpp"

#include <cstdint>
#include <string>

namespace gradcoll {
namespace {

bool aligned_to(std::size_t alignment, const ReduceJob& job) {
    const auto address = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return (address(job.a) | address(job.b) | address(job.out)) % alignment == 0;
}

Status check_job(const ReduceJob& job, ElementType type) {
    if (job.count == 0) return {};
    if (job.a == nullptr || job.b == nullptr || job.out == nullptr)
        return {Code::invalid_buffer, "reduction on a device: a, b or out is null"};
    if (aligned_to(element_bytes(type), job)) return {};
    return {Code::invalid_buffer, "reduction on a device: a, b and out must be aligned to " +
                                      std::to_string(element_bytes(type)) + " bytes"};
}

}  // namespace

Status launch_reduce(ReduceKernelOf kernel_of, const ReduceLaunch& launch,
                     std::span<const ReduceJob> jobs) {
    const BatchKernel kernel = kernel_of(launch.op, launch.type);
    if (kernel.launch == nullptr)
        return {Code::unsupported, "reduction on a device: " + std::string(name_of(launch.op)) +
                                       " is not defined for " + std::string(name_of(launch.type))};
    for (const ReduceJob& job : jobs) GRADCOLL_TRY(check_job(job, launch.type));

    BatchLauncher batches(kernel, launch.stream);
    for (const ReduceJob& job : jobs) {
        WarpJob work;
        work.in = static_cast<const std::byte*>(job.a);
        work.base = static_cast<const std::byte*>(job.b);
        work.out = static_cast<std::byte*>(job.out);
        work.count = job.count;
        GRADCOLL_TRY(batches.add(cut_job(work, kernel, aligned_to(16, job))));
    }
    return batches.flush();
}

}  // namespace gradcoll
