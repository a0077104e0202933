// compress/quant/escape_int4_cuda.cu - kernels for the GPU: codes of 4 bits that keep a tolerance.
#include "compress/quant/escape_job.hpp"
#include "compress/quant/quant_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel escape_int4_kernel_cuda(ElementType type, CodecWork work) {
    return quant::escape_kernel_for<OnDevice, quant::Width<4>>(type, work);
}

}  // namespace gradcoll
