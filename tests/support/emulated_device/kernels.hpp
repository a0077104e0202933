// emulated_device/kernels.hpp - the CPU's codecs and reductions, launched as those of a device.
#pragma once

#include "compress/device_codec.hpp"
#include "reduce/device_reduce.hpp"

namespace gradcoll::emulated {

/// LaunchCodec and LaunchReduce. Also refuse, as transport, memory that a device does not reach.
Status launch_codec(const CodecLaunch& launch, std::span<const CodecJob> jobs);
Status launch_reduce(const ReduceLaunch& launch, std::span<const ReduceJob> jobs);

}  // namespace gradcoll::emulated
