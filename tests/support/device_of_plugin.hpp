// tests/support/device_of_plugin.hpp - the device that the library uses, for memory of a test's own
// there.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// OnDevice holds bytes in device memory, moved by a stream of their own. It throws where that
/// fails.
class OnDevice {
  public:
    explicit OnDevice(const std::vector<std::byte>& content) : size_(content.size()) {
        memory_ = device().allocate(size_ + 1).value();
        move(memory_, content.data());
    }
    ~OnDevice() { device().release(memory_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    void* data() const { return memory_; }
    std::vector<std::byte> content() const {
        std::vector<std::byte> out(size_);
        move(out.data(), memory_);
        return out;
    }

  private:
    void move(void* to, const void* from) const {
        auto stream = std::move(device().make_stream()).value();
        auto mark = std::move(device().make_mark()).value();
        if (!stream->copy(to, from, size_).ok() || !stream->record(*mark).ok())
            throw std::runtime_error("the device does not copy");
        while (!mark->passed().value()) sched_yield();
    }

    std::size_t size_;
    void* memory_ = nullptr;
};

}  // namespace gradcoll::test
