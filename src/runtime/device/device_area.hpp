// runtime/device/device_area.hpp - memory of a device, or pinned memory of the host, that is
// allocated once.
#pragma once

#include <cstddef>
#include <memory>

#include "memory/device.hpp"

namespace gradcoll {

/// Owns one allocation; moving hands it over.
class DeviceArea {
  public:
    enum class Kind : std::uint8_t { on_device, pinned };

    DeviceArea() = default;
    /// Allocates memory; for 0 bytes none, and data() is null. Errors: those of Device::allocate.
    static Result<DeviceArea> make(Device& device, Kind kind, std::size_t size_bytes) {
        DeviceArea area;
        if (size_bytes == 0) return area;
        const Result<void*> memory =
            kind == Kind::pinned ? device.allocate_pinned(size_bytes) : device.allocate(size_bytes);
        if (!memory.ok()) return memory.status();
        area.data_ = {static_cast<std::byte*>(*memory), {&device, kind}};
        area.size_bytes_ = size_bytes;
        return area;
    }

    std::byte* data() const { return data_.get(); }
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    struct Release {
        Device* device;
        Kind kind;
        void operator()(std::byte* data) const {
            kind == Kind::pinned ? device->release_pinned(data) : device->release(data);
        }
    };

    std::unique_ptr<std::byte, Release> data_;
    std::size_t size_bytes_ = 0;
};

}  // namespace gradcoll
