// compress/chain/chain_cuda.cpp - the kernels of the chains for the GPU.
#include "compress/codec_kernels_cuda.hpp"

namespace gradcoll {

struct OnDevice;

namespace chain {

/// chain_kernel.cu has the instances.
template <class Launcher, int keep, int bits>
BatchKernel kernel_for(ElementType type, CodecWork work);

}  // namespace chain

BatchKernel chain_codec_cuda(CodecId codec, const CodecParameters&, ElementType type,
                             CodecWork work) {
    switch (codec) {
        case CodecId::nm_2_4_int8:
            return chain::kernel_for<OnDevice, 2, 8>(type, work);
        case CodecId::nm_1_4_int8:
            return chain::kernel_for<OnDevice, 1, 8>(type, work);
        case CodecId::nm_2_4_int4:
            return chain::kernel_for<OnDevice, 2, 4>(type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
