// compress/quant/int16_cuda.cu - kernels for the GPU: codes of 16 bits.
#include "compress/quant/quant_job.hpp"
#include "compress/quant/quant_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel int16_kernel_cuda(ElementType type, CodecWork work) {
    return quant::kernel_for<OnDevice, quant::Width<16>>(type, work);
}
BatchKernel dithered_int16_kernel_cuda(ElementType type, CodecWork work) {
    return quant::kernel_for<OnDevice, quant::Width<16>, quant::ByChance>(type, work);
}

}  // namespace gradcoll
