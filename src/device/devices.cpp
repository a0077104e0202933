#include "device/devices.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "base/build_facts.hpp"
#include "base/log.hpp"
#include "base/options.hpp"
#include "memory/space.hpp"

namespace gradcoll {
namespace {

constexpr const char* without_cuda = "this library is built without CUDA";
constexpr const char* cuda_library = "libgradcoll_cuda.so";

/// Returns what the dynamic loader said last.
std::string loader_error() {
    const char* text = dlerror();
    return text != nullptr ? text : "the dynamic loader does not say why";
}

/// Returns the path of the plug-in that lies beside the library that this code is in; empty if
/// there is none.
std::string path_beside_this_library() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&device_plugin_build), &here) == 0) return {};
    std::error_code ignored;
    const auto path = std::filesystem::path(here.dli_fname).parent_path() / cuda_library;
    return std::filesystem::exists(path, ignored) ? path.string() : std::string();
}

/// Checks that the plug-in was made together with this library, and is complete.
Status check_plugin(const DevicePlugin* plugin, const std::string& path) {
    if (plugin == nullptr) return {Code::unsupported, path + " offers nothing"};
    if (plugin->abi != device_plugin_abi)
        return {Code::unsupported, fmt::format("{} speaks version {} of the interface, not {}",
                                               path, plugin->abi, device_plugin_abi)};
    if (plugin->build == nullptr || std::strcmp(plugin->build, device_plugin_build()) != 0)
        return {Code::unsupported,
                fmt::format("{} belongs to another build: \"{}\", not \"{}\"", path,
                            plugin->build != nullptr ? plugin->build : "", device_plugin_build())};
    const bool complete = plugin->name != nullptr && plugin->start != nullptr &&
                          plugin->device_count != nullptr && plugin->device != nullptr &&
                          plugin->device_of != nullptr && plugin->current_device != nullptr &&
                          plugin->runs_codec != nullptr && plugin->launch_codec != nullptr &&
                          plugin->move_blocks != nullptr && plugin->launch_reduce != nullptr;
    return complete ? Status() : Status(Code::unsupported, path + " is incomplete");
}

Result<const DevicePlugin*> plugin_in(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return Status(Code::unsupported, loader_error());
    const auto entry = reinterpret_cast<DevicePluginEntry>(dlsym(library, device_plugin_entry));
    const DevicePlugin* plugin = nullptr;
    Status status =
        entry == nullptr
            ? Status(Code::unsupported,
                     fmt::format("{} is no plug-in: it exports no {}", path, device_plugin_entry))
            : check_plugin(plugin = entry(), path);
    if (!status.ok()) {
        dlclose(library);
        return status;
    }
    // What was started may run threads and own memory: it is never unloaded.
    GRADCOLL_TRY(plugin->start());
    return plugin;
}

}  // namespace

/// Returns the object, which is never destroyed: calls may still arrive while the process leaves.
Devices& Devices::of_process() {
    static Devices& devices = *new Devices(option_text(OptionId::device));
    return devices;
}

Devices::Devices(std::string setting)
    : setting_(std::move(setting)),
      mode_(setting_ == "off"    ? Mode::off
            : setting_ == "auto" ? Mode::automatic
                                 : Mode::path) {}

int Devices::device_of(const void* pointer) {
    const DevicePlugin* active = plugin();
    if (active == nullptr && mode_ == Mode::path) active = load_once();
    if (active != nullptr) return active->device_of(pointer);
    if (space_of(pointer) == MemorySpace::host) return host_memory;
    active = mode_ == Mode::automatic ? load_once() : nullptr;
    if (active != nullptr) return active->device_of(pointer);
    has_met_unserved_.store(true, std::memory_order_relaxed);
    return unserved_device;
}

bool Devices::may_meet_devices() const {
    if (plugin() != nullptr) return true;
    if (mode_ == Mode::off || looked_.load(std::memory_order_acquire)) return false;
    return mode_ == Mode::path || device_driver_is_there();
}

const DevicePlugin* Devices::plugin_if_in_use() {
    const bool reason =
        mode_ == Mode::path || (mode_ == Mode::automatic &&
                                !looked_.load(std::memory_order_acquire) && device_driver_in_use());
    return reason ? load_once() : plugin();
}

const DevicePlugin* Devices::look_for_plugin() {
    return mode_ == Mode::off ? nullptr : load_once();
}

const DevicePlugin* Devices::load_once() {
    if (looked_.load(std::memory_order_acquire)) return plugin();
    const std::scoped_lock lock(mutex_);
    if (looked_.load(std::memory_order_relaxed)) return plugin();
    const Result<const DevicePlugin*> loaded = load();
    if (loaded.ok()) {
        plugin_.store(*loaded, std::memory_order_release);
        log(LogLevel::info, "{} devices: {}", (*loaded)->name, (*loaded)->device_count());
    } else {
        why_inactive_ = loaded.status().message();
        log(mode_ == Mode::path ? warn_once_a_job() : LogLevel::info,
            "GC_DEVICE: no memory of devices is served: {}", why_inactive_);
    }
    looked_.store(true, std::memory_order_release);
    return plugin();
}

Result<const DevicePlugin*> Devices::load() const {
    if (mode_ == Mode::path) return plugin_in(setting_);
    if (!build_facts::has_cuda_kernels) return Status(Code::unsupported, without_cuda);
    const std::string beside = path_beside_this_library();
    if (beside.empty() && !is_plain_process())
        return Status(
            Code::unsupported,
            fmt::format("there is no {} beside this library, and a process with rights of "
                        "its own looks nowhere else",
                        cuda_library));
    return plugin_in(beside.empty() ? cuda_library : beside);
}

std::string Devices::why_inactive() const {
    if (plugin() != nullptr) return {};
    if (mode_ == Mode::off) return "GC_DEVICE=off";
    const std::scoped_lock lock(mutex_);
    if (looked_.load(std::memory_order_relaxed)) return why_inactive_;
    if (mode_ == Mode::automatic && !build_facts::has_cuda_kernels) return without_cuda;
    return "not looked for: no pointer to a device was met yet";
}

}  // namespace gradcoll
