// compress/sources_x86.cpp - x86: asks the CPU before it hands out kernels.
#include "compress/cast/bf16_kernels.hpp"
#include "compress/exact/exact_kernels.hpp"
#include "compress/kernel_sources.hpp"
#include "compress/nm/nm_kernels.hpp"

namespace gradcoll {
namespace {

constexpr KernelSource sources[] = {
    {exact_kernels_scalar, bf16_kernels_scalar, nm_kernels_scalar},
    {exact_kernels_avx2, bf16_kernels_avx2, nm_kernels_avx2},
    {exact_kernels_avx512, bf16_kernels_avx512, nm_kernels_avx512},
};

/// What the files for AVX-512 are compiled for beyond what base/cpu.hpp asks for: N:M of 16-bit
/// elements compresses in registers with VBMI2; words of masks are combined with BMI.
bool has_more_than_avx512() {
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi");
}

bool runs_here(InstructionSet set) {
    return cpu_has(set) && (set != InstructionSet::avx512 || has_more_than_avx512());
}

}  // namespace

const KernelSource* kernel_source(InstructionSet set) {
    return runs_here(set) ? &sources[static_cast<std::size_t>(set)] : nullptr;
}

}  // namespace gradcoll
