// device/plugin.hpp - the library that knows one kind of device, and how it is found. The core
// loads libgradcoll_cuda.so when it first meets memory of a GPU; so it runs where there is no
// driver (docs/decisions/009-devices-are-plug-ins.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
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
    /// unsupported, saying why ("no CUDA driver: ...").
    Status (*start)() = nullptr;
    /// How many devices this process sees; numbered from 0.
    int (*device_count)() = nullptr;
    Result<Device*> (*device)(int number) = nullptr;
    /// The device whose memory the pointer is, if the CPU cannot read it; -1 for all other
    /// pointers. Never makes a context that the program has not made. Cheap: asked in every call.
    int (*device_of)(const void* pointer) = nullptr;
    /// The device that this process would use if it allocated now, without making a context.
    int (*current_device)() = nullptr;
    LaunchCodec launch_codec = nullptr;
    LaunchReduce launch_reduce = nullptr;
};

inline constexpr std::uint32_t device_plugin_abi = 1;
/// Tells builds apart: version and revision.
const char* device_plugin_build();

/// What every plug-in exports under the name "gradcoll_device_plugin".
extern "C" using DevicePluginEntry = const DevicePlugin * (*)();
inline constexpr const char* device_plugin_entry = "gradcoll_device_plugin";

/// The device side of this process, as GC_DEVICE says: auto (the CUDA plug-in beside this library,
/// once there is reason to), off, or a plug-in's path. Thread safe. Never fails: without devices
/// all pointers are the host's.
class Devices {
  public:
    static Devices& of_process();

    /// Number of the device that owns the pointer; -1: the CPU reads it. With `auto` the plug-in is
    /// loaded at the first pointer that the driver calls a device's. No lock, no allocation on the
    /// warm path.
    int device_of(const void* pointer);
    /// Null if there is none; why_inactive() says why.
    const DevicePlugin* plugin();
    /// The plug-in if it is loaded, or if there is reason to load it now: a driver is in this
    /// process already, or GC_DEVICE names a plug-in. Null otherwise.
    const DevicePlugin* plugin_if_in_use();
    /// For people: "not looked for: no pointer to a device was met yet", "no CUDA driver: ...".
    std::string why_inactive();

  private:
    Devices();
};

}  // namespace gradcoll
