// compress/codec_launch.hpp - the checks, the choice of form and the batches of launch_codec_cuda,
// apart from the kernels: so they run where there is no GPU, with kernels on emulated warps.
#pragma once

#include <cstdint>
#include <span>

#include "compress/coded_block.hpp"
#include "compress/device_codec.hpp"
#include "warp/batch.hpp"

namespace gradcoll {

/// CodecForm says how an N:M job is worked on (compress/nm/README.md, "On a GPU"). All forms give
/// the same bytes.
enum class CodecForm : std::uint8_t {
    by_alignment,  ///< vector where a job's memory is aligned to 16 bytes, else warp
    warp,          ///< one value a lane: any alignment, and what is behind the last whole block
    vector         ///< whole groups in a thread's registers, a block of 512 a warp
};

/// A CodecKernelOf returns the kernel of a codec, in the form that its parameters ask for, a type
/// and a work; no launch if there is none.
using CodecKernelOf = BatchKernel (*)(CodecId codec, const CodecParameters& parameters,
                                      ElementType type, CodecWork work);

/// Returns whether there are kernels for all works of a codec given these parameters (`abs=call`:
/// given any `abs`).
bool has_kernels(CodecKernelOf kernel_of, CodecId codec, const CodecParameters& parameters,
                 ElementType type);

/// Launches jobs, and checks all of them before the first is started. Errors: as LaunchCodec says;
/// also invalid_buffer if the vector form is asked for and a job's memory is not aligned to 16
/// bytes.
Status launch_codec(CodecKernelOf kernel_of, CodecForm form, const CodecLaunch& launch,
                    std::span<const CodecJob> jobs);

/// Implements LaunchBlockMoves with a kernel of BlockMoveJob.
Status launch_block_moves(const BatchKernel& kernel, void* stream,
                          std::span<const BlockMove> moves);

}  // namespace gradcoll
