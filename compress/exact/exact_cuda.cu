// compress/exact/exact_cuda.cu - kernels for the GPU: elements as they are.
#include "compress/codec_kernels_cuda.hpp"
#include "compress/exact/exact_lane_ops.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel exact_codec_cuda(CodecId codec, const CodecParameters&, ElementType type,
                             CodecWork work) {
    return codec == CodecId::exact ? exact_kernel<OnDevice>(type, work) : BatchKernel{};
}

}  // namespace gradcoll
