// compress/nm/nm_4_8_cuda.cu - kernels for the GPU: 4 of every 8.
#include "compress/nm/nm_job.hpp"
#include "compress/nm/nm_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_4_8_kernel_cuda(ElementType type, CodecWork work) {
    return nm::kernel_for<OnDevice, nm::Shape<4, 8>>(type, work);
}

}  // namespace gradcoll
