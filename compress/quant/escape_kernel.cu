// compress/quant/escape_kernel.cu - the kernels of one width with a tolerance for the GPU. The
// build compiles this once for each width, since each takes nvcc long (extension.cmake).
#include "compress/quant/escape_job.hpp"
#include "warp/device_warp.hpp"

namespace gradcoll {

template BatchKernel quant::escape_kernel_for<OnDevice, quant::Width<GRADCOLL_BITS>>(
    ElementType type, CodecWork work);

}  // namespace gradcoll
