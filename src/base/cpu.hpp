// base/cpu.hpp - which instruction set the kernels may use: what this CPU has, held down by GC_CPU.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.hpp"

namespace gradcoll {

/// The sets are ordered: a later one includes the earlier ones. avx2 means AVX2 with F16C; avx512
/// means F, BW, DQ and VL.
enum class InstructionSet : std::uint8_t { scalar, avx2, avx512 };

constexpr std::string_view name_of(InstructionSet set) {
    constexpr std::string_view names[] = {"scalar", "avx2", "avx512"};
    return names[static_cast<std::size_t>(set)];
}

/// Returns whether this CPU and its operating system run code of that set.
bool cpu_has(InstructionSet set);

/// Returns whether the CPU has VBMI, VBMI2 and BMI beyond avx512. Codecs compress elements of 16
/// bits in registers with VBMI2, and combine words of masks with BMI.
bool cpu_has_vbmi2();

/// Reads "best" (no limit), "scalar", "avx2" or "avx512". Errors: invalid_argument naming GC_CPU
/// and the text.
Result<InstructionSet> parse_instruction_set(std::string_view text);

/// Returns the highest set that the CPU has and GC_CPU allows. A GC_CPU that is no set is reported
/// once and does not count. Thread safe; one load after the first call.
InstructionSet best_instruction_set();

}  // namespace gradcoll
