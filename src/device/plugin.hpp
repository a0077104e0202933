// device/plugin.hpp - what the library that knows one kind of device offers to the core
// (docs/decisions/009-devices-are-plug-ins.md).
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "compress/coded_block.hpp"
#include "compress/device_codec.hpp"
#include "memory/device.hpp"
#include "reduce/device_reduce.hpp"

namespace gradcoll {

/// DevicePlugin is what a plug-in is asked for. It belongs to one build of the library: `build` is
/// checked before anything else is touched.
struct DevicePlugin {
    std::uint32_t abi = 0;        ///< device_plugin_abi
    const char* build = nullptr;  ///< device_plugin_build()
    const char* name = nullptr;   ///< "CUDA"

    /// Finds out whether there is a driver and a device; once it is ok, the others may be called.
    /// Errors: unsupported, saying why ("no CUDA driver: ..."). It gives the same answer if asked
    /// again. Thread safe.
    Status (*start)() = nullptr;
    /// Returns how many devices this process sees; they are numbered from 0.
    int (*device_count)() = nullptr;
    Result<Device*> (*device)(int number) = nullptr;
    /// Returns the device whose memory the pointer is, if the CPU cannot read it; host_memory for
    /// all other pointers. Never makes a context that the program has not made. Cheap: asked in
    /// every call.
    int (*device_of)(const void* pointer) = nullptr;
    /// Returns the device that this thread would use if it allocated now, without making a context.
    int (*current_device)() = nullptr;
    /// Returns whether launch_codec() does all works of a codec, which comes without parameters,
    /// given these, for the type. `abs=call` means given any `abs`. Thread safe.
    bool (*runs_codec)(CodecId codec, const CodecParameters& parameters,
                       ElementType type) = nullptr;
    LaunchCodec launch_codec = nullptr;
    LaunchBlockMoves move_blocks = nullptr;
    LaunchReduce launch_reduce = nullptr;
};

inline constexpr std::uint32_t device_plugin_abi = 3;
/// Returns a text that tells builds apart: version, revision, compiler.
const char* device_plugin_build();

/// Every plug-in exports such a function under the name "gradcoll_device_plugin".
extern "C" using DevicePluginEntry = const DevicePlugin * (*)();
inline constexpr const char* device_plugin_entry = "gradcoll_device_plugin";

/// device_of() returns this for memory that the CPU reads.
inline constexpr int host_memory = -1;

}  // namespace gradcoll
