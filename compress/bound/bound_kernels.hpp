// compress/bound/bound_kernels.hpp - the codec with a bound on the error, by instruction set. Wire
// format: compress/bound/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return no kernels if the type is no float. Calling a kernel needs a CPU with its instruction
/// set.
Kernels bound_kernels_scalar(ElementType type);
Kernels bound_kernels_avx2(ElementType type);
Kernels bound_kernels_avx512(ElementType type);

}  // namespace gradcoll
