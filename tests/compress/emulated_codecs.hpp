// tests/compress/emulated_codecs.hpp - the kernels of GPU codecs on emulated warps.
#pragma once

#include "compress/codec_launch.hpp"

namespace gradcoll::test {

BatchKernel emulated_codec_kernel(CodecId codec, const CodecParameters& parameters,
                                  ElementType type, CodecWork work);

}  // namespace gradcoll::test
