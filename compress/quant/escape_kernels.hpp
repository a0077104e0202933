// compress/quant/escape_kernels.hpp - quantization with a tolerance by instruction set. Wire
// format: compress/quant/README.md.
#pragma once

#include "compress/kernels.hpp"
#include "compress/stage.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Return the kernels for codes of 4, 8 or 16 bits; none for other widths, and for types that
/// quant_layout.hpp does not quantize to that width. Calling a kernel needs a CPU with its
/// instruction set.
Kernels escape_kernels_scalar(int bits, ElementType type);
Kernels escape_kernels_avx2(int bits, ElementType type);
Kernels escape_kernels_avx512(int bits, ElementType type);

/// Returns the stage that serves int8, int4 and int16 with a tolerance: for all values alike, or
/// relative to each.
const CodecStage& escape_stage(bool relative);

}  // namespace gradcoll
