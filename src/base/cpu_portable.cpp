// What this CPU can do, where all that kernels are compiled for is there: vectors of 128 bits
// belong to every AArch64 CPU.
#include "base/cpu.hpp"

namespace gradcoll {

bool cpu_has(InstructionSet) {
    return true;
}

bool cpu_has_for_codecs(InstructionSet) {
    return true;
}

}  // namespace gradcoll
