// base/cpu.hpp - which instruction set the kernels may use: what this CPU has, held down by GC_CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/status.hpp"
#include "instruction_sets.hpp"

namespace gradcoll {

/// These are the sets that this build has kernels for: scalar, and on x86-64 avx2 (AVX2 with F16C)
/// and avx512 (F, BW, DQ and VL), on AArch64 neon. They are ordered: a later one includes the
/// earlier ones.
enum class InstructionSet : std::uint8_t { GRADCOLL_SETS };

inline constexpr std::string_view instruction_set_names[] = {GRADCOLL_SET_NAMES};
inline constexpr std::size_t instruction_set_count = std::size(instruction_set_names);

constexpr std::string_view name_of(InstructionSet set) {
    return instruction_set_names[static_cast<std::size_t>(set)];
}

/// AllInstructionSets is for loops over them, the lowest first.
struct AllInstructionSets {
    InstructionSet sets[instruction_set_count];
    constexpr AllInstructionSets() : sets() {
        for (std::size_t i = 0; i < instruction_set_count; ++i)
            sets[i] = static_cast<InstructionSet>(i);
    }
    constexpr const InstructionSet* begin() const { return sets; }
    constexpr const InstructionSet* end() const { return sets + instruction_set_count; }
};
inline constexpr AllInstructionSets all_instruction_sets;
inline constexpr InstructionSet highest_instruction_set =
    static_cast<InstructionSet>(instruction_set_count - 1);

/// Returns whether this CPU and its operating system run code of that set.
bool cpu_has(InstructionSet set);

/// Returns whether the CPU has what kernels of codecs need beyond the set: for avx512 VBMI and
/// VBMI2, which compress elements of 16 bits in registers, and BMI, for words of masks.
bool cpu_has_for_codecs(InstructionSet set);

/// Reads "best" (no limit) or the name of a set. Errors: invalid_argument naming GC_CPU and the
/// text.
Result<InstructionSet> parse_instruction_set(std::string_view text);

/// Returns the highest set that the CPU has and GC_CPU allows. A GC_CPU that is no set is reported
/// once and does not count. Thread safe; one load after the first call.
InstructionSet best_instruction_set();

}  // namespace gradcoll
