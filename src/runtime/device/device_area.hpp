// runtime/device/device_area.hpp - memory of a device, or pinned memory of the host, that is
// allocated once.
#pragma once

#include <cstddef>

#include "memory/device.hpp"

namespace gradcoll {

/// Owns one allocation; moving hands it over.
class DeviceArea {
  public:
    enum class Kind : std::uint8_t { on_device, pinned };

    DeviceArea() = default;
    /// Of 0 bytes: none, data() is null. Errors: those of Device::allocate.
    static Result<DeviceArea> make(Device& device, Kind kind, std::size_t size_bytes);
    DeviceArea(DeviceArea&& other) noexcept;
    DeviceArea& operator=(DeviceArea&& other) noexcept;
    ~DeviceArea();

    std::byte* data() const { return data_; }
    std::size_t size_bytes() const { return size_bytes_; }

  private:
    Device* device_ = nullptr;
    Kind kind_ = Kind::on_device;
    std::byte* data_ = nullptr;
    std::size_t size_bytes_ = 0;
};

}  // namespace gradcoll
