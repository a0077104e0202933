// compress/chain/chain_kernels.hpp - N of 4, quantized, by instruction set. Wire format:
// compress/chain/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return the kernels that keep `keep` of every four, in codes of `bits`; none if that is no chain
/// of ours, or not one for the type. Calling a kernel needs a CPU with its instruction set.
Kernels chain_kernels_scalar(int keep, int bits, ElementType type);
Kernels chain_kernels_avx2(int keep, int bits, ElementType type);
Kernels chain_kernels_avx512(int keep, int bits, ElementType type);

}  // namespace gradcoll
