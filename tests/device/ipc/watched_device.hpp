// tests/device/ipc/watched_device.hpp - a device that counts what it shares, opens and
// closes, and refuses to share or open when told so.
#pragma once

#include "memory/device.hpp"

namespace gradcoll::test {

class WatchedDevice final : public Device {
  public:
    explicit WatchedDevice(Device& device) : device_(device) {}

    int shared = 0, opened = 0, closed = 0;
    bool may_share = true, may_open = true, one_at_a_time = false;

    const DevicePlace& place() const override { return device_.place(); }
    Result<void*> allocate(std::size_t size_bytes) override { return device_.allocate(size_bytes); }
    void release(void* memory) override { device_.release(memory); }
    Result<void*> allocate_pinned(std::size_t size_bytes) override {
        return device_.allocate_pinned(size_bytes);
    }
    void release_pinned(void* memory) override { device_.release_pinned(memory); }
    Result<std::unique_ptr<DeviceStream>> make_stream() override { return device_.make_stream(); }
    Result<std::unique_ptr<DeviceStream>> adopt_stream(void* native) override {
        return device_.adopt_stream(native);
    }
    Result<std::unique_ptr<DeviceMark>> make_mark() override { return device_.make_mark(); }
    Result<DeviceAllocation> allocation_of(const void* pointer) override {
        return device_.allocation_of(pointer);
    }
    Result<DeviceHandle> share(const DeviceAllocation& allocation) override {
        ++shared;
        if (!may_share) return Status(Code::unsupported, "this device shares nothing");
        return device_.share(allocation);
    }
    Result<void*> open(const DeviceHandle& handle) override {
        if (!may_open || (one_at_a_time && opened > closed))
            return Status(Code::unsupported, "this device does not open that");
        Result<void*> memory = device_.open(handle);
        if (memory.ok()) ++opened;
        return memory;
    }
    void close(void* memory) override {
        ++closed;
        device_.close(memory);
    }

  private:
    Device& device_;
};

}  // namespace gradcoll::test
