// compress/nm/nm_kernels_cuda.hpp - the kernels of every N:M for the GPU, a file each so that they
// compile beside one another.
#pragma once

#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

BatchKernel nm_1_4_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_2_4_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_1_8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_2_8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_4_8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_1_16_kernel_cuda(ElementType type, CodecWork work);

}  // namespace gradcoll
