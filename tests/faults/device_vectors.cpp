// Vectors in the memory of the device that GC_DEVICE names, for faulty.c, which loads this library.
#include <dlfcn.h>
#include <sched.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "device/plugin.hpp"

namespace gradcoll {
namespace {

struct Access {
    Access() {
        const char* const path = std::getenv("GC_DEVICE");
        void* const library = dlopen(path != nullptr ? path : "", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) std::abort();
        const auto entry = reinterpret_cast<DevicePluginEntry>(dlsym(library, device_plugin_entry));
        const DevicePlugin* const plugin = entry();
        if (!plugin->start().ok()) std::abort();
        device = plugin->device(plugin->current_device()).value();
        stream = std::move(device->make_stream()).value();
        mark = std::move(device->make_mark()).value();
    }

    Device* device = nullptr;
    std::unique_ptr<DeviceStream> stream;
    std::unique_ptr<DeviceMark> mark;
};

/// Never destroyed: the plug-in may end first.
Access& access() {
    static Access& access = *new Access;
    return access;
}

}  // namespace
}  // namespace gradcoll

extern "C" {

__attribute__((visibility("default"))) void* device_vector(std::size_t size_bytes) {
    return gradcoll::access().device->allocate(size_bytes).value();
}

/// Between any memories; returns when it is done.
__attribute__((visibility("default"))) void device_copy(void* to, const void* from,
                                                        std::size_t size_bytes) {
    gradcoll::Access& device = gradcoll::access();
    if (!device.stream->copy(to, from, size_bytes).ok()) std::abort();
    if (!device.stream->record(*device.mark).ok()) std::abort();
    while (!device.mark->passed().value()) sched_yield();
}

}  // extern "C"
