// compress/chain/chain_2_4_int8_cuda.cu - kernels for the GPU: 2 of every 4, in 8 bits each.
#include "compress/chain/chain_job.hpp"
#include "compress/chain/chain_kernels_cuda.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

BatchKernel nm_2_4_int8_kernel_cuda(ElementType type, CodecWork work) {
    return chain::kernel_for<OnDevice, 2, 8>(type, work);
}

}  // namespace gradcoll
