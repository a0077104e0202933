// compress/cast/bf16_kernels.hpp - fp32 elements sent as bf16, by instruction set. Wire format:
// compress/cast/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return no kernels for types other than fp32. Calling a kernel needs a CPU with its instruction
/// set.
Kernels bf16_kernels_scalar(ElementType type);
Kernels bf16_kernels_avx2(ElementType type);
Kernels bf16_kernels_avx512(ElementType type);

}  // namespace gradcoll
