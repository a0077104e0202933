// compress/cast/bf16_cuda.cu - kernels for the GPU: fp32 sent as bf16.
#include "compress/cast/bf16_lane_ops.hpp"
#include "compress/codec_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel cast_codec_cuda(CodecId codec, const CodecParameters&, ElementType type,
                            CodecWork work) {
    return codec == CodecId::bf16 ? bf16_kernel<OnDevice>(type, work) : BatchKernel{};
}

}  // namespace gradcoll
