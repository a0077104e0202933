// compress/chain/chain_cuda.cpp - the kernels of the chains for the GPU.
#include "compress/chain/chain_kernels_cuda.hpp"
#include "compress/codec_kernels_cuda.hpp"

namespace gradcoll {

BatchKernel chain_codec_cuda(CodecId codec, const CodecParameters&, ElementType type,
                             CodecWork work) {
    switch (codec) {
        case CodecId::nm_2_4_int8:
            return nm_2_4_int8_kernel_cuda(type, work);
        case CodecId::nm_1_4_int8:
            return nm_1_4_int8_kernel_cuda(type, work);
        case CodecId::nm_2_4_int4:
            return nm_2_4_int4_kernel_cuda(type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
