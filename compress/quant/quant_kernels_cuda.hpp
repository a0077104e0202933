// compress/quant/quant_kernels_cuda.hpp - the kernels of every width for the GPU, a file each so
// that they compile beside one another.
#pragma once

#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

BatchKernel int4_kernel_cuda(ElementType type, CodecWork work);
BatchKernel int8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel int16_kernel_cuda(ElementType type, CodecWork work);
/// Return the kernels for codecs with `seed`.
BatchKernel dithered_int4_kernel_cuda(ElementType type, CodecWork work);
BatchKernel dithered_int8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel dithered_int16_kernel_cuda(ElementType type, CodecWork work);
/// Return the kernels for codecs with `abs` or `rel`.
BatchKernel escape_int4_kernel_cuda(ElementType type, CodecWork work);
BatchKernel escape_int8_kernel_cuda(ElementType type, CodecWork work);
BatchKernel escape_int16_kernel_cuda(ElementType type, CodecWork work);

}  // namespace gradcoll
