#include "runtime/device/device_area.hpp"

#include <utility>

namespace gradcoll {

Result<DeviceArea> DeviceArea::make(Device& device, Kind kind, std::size_t size_bytes) {
    DeviceArea area;
    if (size_bytes == 0) return area;
    const Result<void*> memory =
        kind == Kind::pinned ? device.allocate_pinned(size_bytes) : device.allocate(size_bytes);
    if (!memory.ok()) return memory.status();
    area.device_ = &device;
    area.kind_ = kind;
    area.data_ = static_cast<std::byte*>(*memory);
    area.size_bytes_ = size_bytes;
    return area;
}

DeviceArea::DeviceArea(DeviceArea&& other) noexcept {
    *this = std::move(other);
}

DeviceArea& DeviceArea::operator=(DeviceArea&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
}

DeviceArea::~DeviceArea() {
    if (data_ == nullptr) return;
    if (kind_ == Kind::pinned)
        device_->release_pinned(data_);
    else
        device_->release(data_);
}

}  // namespace gradcoll
