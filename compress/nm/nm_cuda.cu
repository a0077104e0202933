// compress/nm/nm_cuda.cu - the kernels of the N:M codecs for the GPU.
#include "compress/codec_kernels_cuda.hpp"
#include "compress/nm/nm_job.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_codec_cuda(CodecId codec, const CodecParameters&, ElementType type, CodecWork work) {
    using nm::kernel_for, nm::Shape;
    switch (codec) {
        case CodecId::nm_1_4:
            return kernel_for<OnDevice, Shape<1, 4>>(type, work);
        case CodecId::nm_2_4:
            return kernel_for<OnDevice, Shape<2, 4>>(type, work);
        case CodecId::nm_1_8:
            return kernel_for<OnDevice, Shape<1, 8>>(type, work);
        case CodecId::nm_2_8:
            return kernel_for<OnDevice, Shape<2, 8>>(type, work);
        case CodecId::nm_4_8:
            return kernel_for<OnDevice, Shape<4, 8>>(type, work);
        case CodecId::nm_1_16:
            return kernel_for<OnDevice, Shape<1, 16>>(type, work);
        default:
            return {};
    }
}

}  // namespace gradcoll
