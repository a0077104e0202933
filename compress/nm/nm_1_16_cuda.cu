// compress/nm/nm_1_16_cuda.cu - kernels for the GPU: 1 of every 16.
#include "compress/nm/nm_job.hpp"
#include "compress/nm/nm_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_1_16_kernel_cuda(ElementType type, CodecWork work) {
    return nm::kernel_for<OnDevice, nm::Shape<1, 16>>(type, work);
}

}  // namespace gradcoll
