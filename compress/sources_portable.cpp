// compress/sources_portable.cpp - on architectures without kernels of their own: the scalar
// reference.
#include "compress/cast/bf16_kernels.hpp"
#include "compress/exact/exact_kernels.hpp"
#include "compress/kernel_sources.hpp"
#include "compress/nm/nm_kernels.hpp"

namespace gradcoll {

const KernelSource* kernel_source(InstructionSet set) {
    static constexpr KernelSource scalar{exact_kernels_scalar, bf16_kernels_scalar,
                                         nm_kernels_scalar};
    return set == InstructionSet::scalar ? &scalar : nullptr;
}

}  // namespace gradcoll
