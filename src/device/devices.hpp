// device/devices.hpp - the devices of this process, and how the plug-in that knows them is found.
// The core loads libgradcoll_cuda.so when it first meets memory of a GPU; so it runs where there is
// no driver (docs/decisions/009-devices-are-plug-ins.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "device/plugin.hpp"

namespace gradcoll {

/// Devices::device_of() returns this for a device's memory where no plug-in serves that device
/// (GC_DEVICE=off, or the plug-in did not start): nobody but the MPI library may touch it.
inline constexpr int unserved_device = -2;

/// Devices is the device side of this process, as GC_DEVICE says: auto (the CUDA plug-in beside
/// this library, once there is reason to), off, or a plug-in's path. A plug-in stays loaded until
/// the process ends; one that did not load or start is not tried again. Thread safe. Never fails:
/// without devices all pointers are the host's.
class Devices {
  public:
    static Devices& of_process();
    /// Makes what a GC_DEVICE of that value would be; for tests.
    explicit Devices(std::string setting);
    Devices(const Devices&) = delete;
    Devices& operator=(const Devices&) = delete;

    /// Returns the number of the device that owns the pointer; host_memory if the CPU reads it; or
    /// unserved_device. With `auto` the plug-in is loaded at the first pointer that the driver
    /// calls a device's, with a path at the first pointer. No lock, no allocation, no system call
    /// on the warm path.
    int device_of(const void* pointer);
    /// Returns whether a pointer may be one that device_of() knows, now or later. It is as cheap,
    /// but for the first time.
    bool may_meet_devices() const;
    /// Returns whether device_of() has returned unserved_device. It is as cheap.
    bool has_met_unserved() const { return has_met_unserved_.load(std::memory_order_relaxed); }
    /// Returns the plug-in that is in use. Null if there is none: why_inactive() says why. It is as
    /// cheap.
    const DevicePlugin* plugin() const { return plugin_.load(std::memory_order_acquire); }
    /// Returns the plug-in if it is loaded, or if there is reason to load it now: the program has
    /// initialised a driver, or GC_DEVICE names a plug-in. Null otherwise.
    const DevicePlugin* plugin_if_in_use();
    /// Returns the plug-in, loaded now if need be, reason or not (gradcoll info asks so). Null if
    /// there is none.
    const DevicePlugin* look_for_plugin();
    /// Returns a text for people: "not looked for: no pointer to a device was met yet", "no CUDA
    /// driver: ..."; empty if plugin() is not null.
    std::string why_inactive() const;

  private:
    enum class Mode : std::uint8_t { off, automatic, path };

    const DevicePlugin* load_once();
    Result<const DevicePlugin*> load() const;

    const std::string setting_;
    const Mode mode_;
    std::atomic<const DevicePlugin*> plugin_{nullptr};
    std::atomic<bool> looked_{false};  ///< loading was tried; what it gave stays
    std::atomic<bool> has_met_unserved_{false};
    mutable std::mutex mutex_;  ///< held while loading
    std::string why_inactive_;
};

}  // namespace gradcoll
