// compress/codec_cuda.hpp - every codec on a GPU of NVIDIA, behind the face of
// compress/device_codec.hpp. Only the CUDA plug-in, its tests and its benchmark link this.
#pragma once

#include <span>

#include "compress/codec_launch.hpp"

namespace gradcoll {

/// Implements DevicePlugin::runs_codec.
bool runs_codec_cuda(CodecId codec, const CodecParameters& parameters, ElementType type);

/// Implements LaunchCodec; launch.stream is a cudaStream_t of the current device.
Status launch_codec_cuda(const CodecLaunch& launch, std::span<const CodecJob> jobs);

/// Implements LaunchBlockMoves; `stream` is a cudaStream_t, too.
Status launch_block_moves_cuda(void* stream, std::span<const BlockMove> moves);

/// Does what launch_codec_cuda() does in one form, for tests and benchmarks.
Status launch_codec_cuda_form(CodecForm form, const CodecLaunch& launch,
                              std::span<const CodecJob> jobs);

}  // namespace gradcoll
