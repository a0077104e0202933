// compress/chain/chain_kernel.cu - the kernels of one chain for the GPU. The build compiles this
// once for each chain, since each takes nvcc long (extension.cmake).
#include "compress/chain/chain_job.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

template BatchKernel chain::kernel_for<OnDevice, GRADCOLL_KEEP_BITS>(ElementType type,
                                                                     CodecWork work);

}  // namespace gradcoll
