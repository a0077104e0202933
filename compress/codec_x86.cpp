// compress/codec_x86.cpp - x86: asks the CPU before kernels are handed out.
#include "compress/codec.hpp"

namespace gradcoll {
namespace {

/// Returns whether the CPU has what files with kernels for AVX-512 are compiled for beyond what
/// base/cpu.hpp asks for: N:M of 16-bit elements compresses in registers with VBMI2; words of masks
/// are combined with BMI.
bool has_more_than_avx512() {
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("bmi");
}

}  // namespace

bool kernels_available(InstructionSet set) {
    return cpu_has(set) && (set != InstructionSet::avx512 || has_more_than_avx512());
}

}  // namespace gradcoll
