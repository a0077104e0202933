// compress/quant/quant_kernels.hpp - the quantizing codecs by instruction set. Wire format:
// compress/quant/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return the kernels for codes of 4, 8 or 16 bits; none for other widths, and for types that
/// quant_layout.hpp does not quantize to that width. Calling a kernel needs a CPU with its
/// instruction set.
Kernels quant_kernels_scalar(int bits, ElementType type);
Kernels quant_kernels_avx2(int bits, ElementType type);
Kernels quant_kernels_avx512(int bits, ElementType type);

/// Return kernels that round by chance (CodecParameters::seed).
Kernels dither_kernels_scalar(int bits, ElementType type);
Kernels dither_kernels_avx2(int bits, ElementType type);
Kernels dither_kernels_avx512(int bits, ElementType type);

}  // namespace gradcoll
