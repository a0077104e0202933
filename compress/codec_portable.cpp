// compress/codec_portable.cpp - on architectures without kernels of their own: the scalar
// reference.
#include "compress/codec.hpp"

namespace gradcoll {

bool kernels_available(InstructionSet set) {
    return set == InstructionSet::scalar;
}

}  // namespace gradcoll
