// The kernels where there is only one instruction set.
#include "reduce/kernels.hpp"

namespace gradcoll {

const KernelTable& kernels_of(InstructionSet) {
    return scalar_kernels();
}

}  // namespace gradcoll
