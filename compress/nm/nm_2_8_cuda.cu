// compress/nm/nm_2_8_cuda.cu - kernels for the GPU: 2 of every 8.
#include "compress/nm/nm_job.hpp"
#include "compress/nm/nm_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_2_8_kernel_cuda(ElementType type, CodecWork work) {
    return nm::kernel_for<OnDevice, nm::Shape<2, 8>>(type, work);
}

}  // namespace gradcoll
