// compress/chain/chain_2_4_int4_cuda.cu - kernels for the GPU: 2 of every 4, in 4 bits each.
#include "compress/chain/chain_job.hpp"
#include "compress/chain/chain_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_2_4_int4_kernel_cuda(ElementType type, CodecWork work) {
    return chain::kernel_for<OnDevice, 2, 4>(type, work);
}

}  // namespace gradcoll
