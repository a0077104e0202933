// compress/codec_launch.hpp - the checks, the choice of form and the batches of launch_codec_cuda,
// apart from the kernels: so they run where there is no GPU, with kernels on emulated warps.
#pragma once

#include <span>

#include "compress/codec_cuda.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

/// The kernel of a codec, a type and a work; no launch: there is none.
using CodecKernelOf = BatchKernel (*)(CodecId codec, ElementType type, CodecWork work);

/// Checks all jobs before the first is started. Errors: as launch_codec_cuda_form says.
Status launch_codec(CodecKernelOf kernel_of, CodecForm form, const CodecLaunch& launch,
                    std::span<const CodecJob> jobs);

}  // namespace gradcoll
