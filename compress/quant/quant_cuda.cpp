// compress/quant/quant_cuda.cpp - the kernels of the quantizing codecs for the GPU.
#include "compress/codec_kernels_cuda.hpp"
#include "compress/quant/quant_kernels_cuda.hpp"

namespace gradcoll {

BatchKernel quant_codec_cuda(CodecId codec, ElementType type, CodecWork work) {
    switch (codec) {
        case CodecId::int8:
            return int8_kernel_cuda(type, work);
        case CodecId::int4:
            return int4_kernel_cuda(type, work);
        case CodecId::int16:
            return int16_kernel_cuda(type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
