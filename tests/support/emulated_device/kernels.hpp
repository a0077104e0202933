// emulated_device/kernels.hpp - the CPU's codecs and reductions, launched as those of a device.
#pragma once

#include "compress/coded_block.hpp"
#include "compress/device_codec.hpp"
#include "reduce/device_reduce.hpp"

namespace gradcoll::emulated {

/// Implements DevicePlugin::runs_codec: the device runs what CPUs have, as the kernels of a GPU,
/// but not `bound`.
bool runs_codec(CodecId codec, const CodecParameters& parameters, ElementType type);
/// Implement LaunchCodec, LaunchBlockMoves and LaunchReduce. They also refuse, as transport, memory
/// that a device does not reach.
Status launch_codec(const CodecLaunch& launch, std::span<const CodecJob> jobs);
Status move_blocks(void* stream, std::span<const BlockMove> moves);
Status launch_reduce(const ReduceLaunch& launch, std::span<const ReduceJob> jobs);

}  // namespace gradcoll::emulated
