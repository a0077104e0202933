// compress/exact/exact_kernels.hpp - elements as they are, by instruction set. Wire format:
// compress/exact/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return the kernels for every type but opaque, whose size we do not know. Integers have no
/// residual: encode_with_residual leaves it alone. Calling a kernel needs a CPU with its
/// instruction set.
Kernels exact_kernels_scalar(ElementType type);
Kernels exact_kernels_avx2(ElementType type);
Kernels exact_kernels_avx512(ElementType type);

}  // namespace gradcoll
