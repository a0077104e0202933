// compress/quant/int4_cuda.cu - kernels for the GPU: codes of 4 bits.
#include "compress/quant/quant_job.hpp"
#include "compress/quant/quant_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel int4_kernel_cuda(ElementType type, CodecWork work) {
    return quant::kernel_for<OnDevice, quant::Width<4>>(type, work);
}
BatchKernel dithered_int4_kernel_cuda(ElementType type, CodecWork work) {
    return quant::kernel_for<OnDevice, quant::Width<4>, quant::ByChance>(type, work);
}

}  // namespace gradcoll
