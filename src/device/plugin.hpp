// device/plugin.hpp - what the library that knows one kind of device offers to the core
// (docs/decisions/009-devices-are-plug-ins.md).
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "compress/block_move.hpp"
#include "compress/device_codec.hpp"
#include "memory/device.hpp"
#include "reduce/device_reduce.hpp"

namespace gradcoll {

/// What a plug-in is asked for. It belongs to one build of the library: `build` is checked before
/// anything else is touched.
struct DevicePlugin {
    std::uint32_t abi = 0;        ///< device_plugin_abi
    const char* build = nullptr;  ///< device_plugin_build()
    const char* name = nullptr;   ///< "CUDA"

    /// Whether there is a driver and a device; once it is ok, the others may be called. Errors:
    /// unsupported, saying why ("no CUDA driver: ..."). The same answer again if asked again.
    /// Thread safe.
    Status (*start)() = nullptr;
    /// How many devices this process sees; numbered from 0.
    int (*device_count)() = nullptr;
    Result<Device*> (*device)(int number) = nullptr;
    /// The device whose memory the pointer is, if the CPU cannot read it; host_memory for all other
    /// pointers. Never makes a context that the program has not made. Cheap: asked in every call.
    int (*device_of)(const void* pointer) = nullptr;
    /// The device that this thread would use if it allocated now, without making a context.
    int (*current_device)() = nullptr;
    /// Whether launch_codec() does all works of a codec, which comes without parameters, given
    /// these, for the type. `abs=call`: given any `abs`. Thread safe.
    bool (*runs_codec)(CodecId codec, const CodecParameters& parameters,
                       ElementType type) = nullptr;
    LaunchCodec launch_codec = nullptr;
    LaunchBlockMoves move_blocks = nullptr;
    LaunchReduce launch_reduce = nullptr;
};

inline constexpr std::uint32_t device_plugin_abi = 3;
/// Tells builds apart: version, revision, compiler.
const char* device_plugin_build();

/// What every plug-in exports under the name "gradcoll_device_plugin".
extern "C" using DevicePluginEntry = const DevicePlugin * (*)();
inline constexpr const char* device_plugin_entry = "gradcoll_device_plugin";

/// What device_of() says of memory that the CPU reads.
inline constexpr int host_memory = -1;

}  // namespace gradcoll
