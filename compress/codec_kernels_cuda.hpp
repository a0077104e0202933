// compress/codec_kernels_cuda.hpp - what a codec stage with kernels for the GPU defines: its
// extension.cmake adds it to the table `codec_cuda`, and one of its files defines
//   BatchKernel NAME_codec_cuda(CodecId codec, const CodecParameters& parameters,
//                               ElementType type, CodecWork work);
// the kernel of a codec of this stage, in the form that its parameters ask for; without `launch` if
// the codec is another stage's or there is no kernel for the type.
#pragma once

#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name)                                                          \
    BatchKernel name##_codec_cuda(CodecId codec, const CodecParameters& parameters, \
                                  ElementType type, CodecWork work);
#include "codec_cuda_table.inc"
#undef GRADCOLL_ROW

}  // namespace gradcoll
