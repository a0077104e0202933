// The kernels of each instruction set, on x86-64.
#include "reduce/kernels.hpp"

namespace gradcoll {

const KernelTable& kernels_of(InstructionSet set) {
    switch (set) {
        case InstructionSet::scalar:
            return scalar_kernels();
        case InstructionSet::avx2:
            return avx2_kernels();
        case InstructionSet::avx512:
            return avx512_kernels();
    }
    return scalar_kernels();
}

}  // namespace gradcoll
