// compress/nm/nm_1_4_cuda.cu - kernels for the GPU: 1 of every 4.
#include "compress/nm/nm_job.hpp"
#include "compress/nm/nm_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_1_4_kernel_cuda(ElementType type, CodecWork work) {
    return nm::kernel_for<OnDevice, nm::Shape<1, 4>>(type, work);
}

}  // namespace gradcoll
