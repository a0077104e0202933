// compress/nm/nm_cuda.cpp - the kernels of the N:M codecs for the GPU.
#include "compress/codec_kernels_cuda.hpp"
#include "compress/nm/nm_kernels_cuda.hpp"

namespace gradcoll {

BatchKernel nm_codec_cuda(CodecId codec, const CodecParameters&, ElementType type, CodecWork work) {
    switch (codec) {
        case CodecId::nm_1_4:
            return nm_1_4_kernel_cuda(type, work);
        case CodecId::nm_2_4:
            return nm_2_4_kernel_cuda(type, work);
        case CodecId::nm_1_8:
            return nm_1_8_kernel_cuda(type, work);
        case CodecId::nm_2_8:
            return nm_2_8_kernel_cuda(type, work);
        case CodecId::nm_4_8:
            return nm_4_8_kernel_cuda(type, work);
        case CodecId::nm_1_16:
            return nm_1_16_kernel_cuda(type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
