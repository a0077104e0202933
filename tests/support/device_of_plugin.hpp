// tests/support/device_of_plugin.hpp - the device that the library uses, for memory of a test's own
// there.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "device/plugin.hpp"

namespace gradcoll::test {

/// Returns the device of the plug-in that GC_DEVICE names, before its parts. There is one in a
/// process for each path. Throws.
inline Device& device() {
    static Device* const found = [] {
        const std::string named = std::getenv("GC_DEVICE");
        void* library = dlopen(named.substr(0, named.find(',')).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw std::runtime_error(dlerror());
        const auto entry = reinterpret_cast<DevicePluginEntry>(dlsym(library, device_plugin_entry));
        const DevicePlugin* plugin = entry();
        if (!plugin->start().ok()) throw std::runtime_error("the plug-in does not start");
        return plugin->device(plugin->current_device()).value();
    }();
    return *found;
}

}  // namespace gradcoll::test
