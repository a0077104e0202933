// What this CPU can do, where we have no kernels of our own for it.
#include "base/cpu.hpp"

namespace gradcoll {

bool cpu_has(InstructionSet set) {
    return set == InstructionSet::scalar;
}

bool cpu_has_vbmi2() {
    return false;
}

}  // namespace gradcoll
