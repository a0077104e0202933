// compress/quant/int8_cuda.cu - kernels for the GPU: codes of 8 bits.
#include "compress/quant/quant_job.hpp"
#include "compress/quant/quant_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel int8_kernel_cuda(ElementType type, CodecWork work) {
    return quant::kernel_for<OnDevice, quant::Width<8>>(type, work);
}
BatchKernel dithered_int8_kernel_cuda(ElementType type, CodecWork work) {
    return quant::kernel_for<OnDevice, quant::Width<8>, quant::ByChance>(type, work);
}

}  // namespace gradcoll
