// compress/codec_cuda.hpp - every codec on a GPU of NVIDIA, behind the face of
// compress/device_codec.hpp. Only the CUDA plug-in, its tests and its benchmark link this.
#pragma once

#include <span>

#include "compress/codec_launch.hpp"

namespace gradcoll {

/// As DevicePlugin::runs_codec says. False for codecs with parameters: the number of these is one
/// of the library's table, and the plug-in has a table of its own.
bool runs_codec_cuda(CodecId codec, ElementType type);

/// As LaunchCodec says; launch.stream is a cudaStream_t of the current device.
Status launch_codec_cuda(const CodecLaunch& launch, std::span<const CodecJob> jobs);

/// The same in one form, for tests and benchmarks.
Status launch_codec_cuda_form(CodecForm form, const CodecLaunch& launch,
                              std::span<const CodecJob> jobs);

}  // namespace gradcoll
