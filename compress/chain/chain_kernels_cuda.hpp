// compress/chain/chain_kernels_cuda.hpp - the kernels of every chain for the GPU, a file each so
// that they compile beside one another.
#pragma once

#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

BatchKernel nm_2_4_int8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_1_4_int8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel nm_2_4_int4_kernel_cuda(ElementType type, CodecWork work);

}  // namespace gradcoll
