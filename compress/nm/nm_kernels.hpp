// compress/nm/nm_kernels.hpp - the N:M codecs by instruction set. Wire format:
// compress/nm/README.md.
#pragma once

#include "compress/codec_id.hpp"
#include "compress/kernels.hpp"
#include "reduce/element_type.hpp"

namespace gradcoll {

/// Empty if the codec is not an N:M one or the type no float. Calling a kernel needs a CPU with its
/// instruction set.
Kernels nm_kernels_scalar(CodecId id, ElementType type);
Kernels nm_kernels_avx2(CodecId id, ElementType type);
Kernels nm_kernels_avx512(CodecId id, ElementType type);

}  // namespace gradcoll
