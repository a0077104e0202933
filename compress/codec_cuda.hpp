// compress/codec_cuda.hpp - every codec on a GPU of NVIDIA, behind the face of
// compress/device_codec.hpp. Only the CUDA plug-in, its tests and its benchmark link this.
#pragma once

#include <cstdint>
#include <span>

#include "compress/device_codec.hpp"

namespace gradcoll {

/// How an N:M job is worked on (compress/nm/README.md, "On a GPU"). Same bytes from all.
enum class CodecForm : std::uint8_t {
    by_alignment,  ///< vector where a job's memory is aligned to 16 bytes, else warp
    warp,          ///< one value a lane: any alignment, and what is behind the last whole block
    vector         ///< whole groups in a thread's registers, a block of 512 a warp
};

/// As LaunchCodec says; launch.stream is a cudaStream_t of the current device.
Status launch_codec_cuda(const CodecLaunch& launch, std::span<const CodecJob> jobs);

/// The same in one form, for tests and benchmarks. Errors: also invalid_buffer if the vector form
/// is asked for and a job's memory is not aligned to 16 bytes.
Status launch_codec_cuda_form(CodecForm form, const CodecLaunch& launch,
                              std::span<const CodecJob> jobs);

}  // namespace gradcoll
