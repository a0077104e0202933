// emulated_device/device.hpp - devices without hardware: memory as in memory.hpp, streams as in
// queue.hpp.
#pragma once

#include <memory>
#include <mutex>

#include "memory/device.hpp"
#include "queue.hpp"

namespace gradcoll::emulated {

/// Releasing memory waits for all work of all streams, as cudaFree does.
class EmulatedDevice final : public Device {
  public:
    explicit EmulatedDevice(int number);
    const DevicePlace& place() const override { return place_; }

    Result<void*> allocate(std::size_t size_bytes) override;
    void release(void* memory) override;
    Result<void*> allocate_pinned(std::size_t size_bytes) override;
    void release_pinned(void* memory) override;

    Result<std::unique_ptr<DeviceStream>> make_stream() override;
    Result<std::unique_ptr<DeviceStream>> adopt_stream(void* native) override;
    Result<std::unique_ptr<DeviceMark>> make_mark() override;

    Result<DeviceAllocation> allocation_of(const void* pointer) override;
    Result<DeviceHandle> share(const DeviceAllocation& allocation) override;
    Result<void*> open(const DeviceHandle& handle) override;
    void close(void* opened) override;

    /// Returns the queue of a stream's native handle; null stands for the default stream. Errors:
    /// those of make_queue(); transport if there is no such stream (any more).
    Result<std::shared_ptr<Queue>> queue_behind(void* native_stream);

  private:
    /// Returns the queue, which is made at the first call.
    Result<std::shared_ptr<Queue>> default_queue();

    const int number_;
    DevicePlace place_;
    std::mutex mutex_;
    std::shared_ptr<Queue> default_queue_;
};

/// Returns one of settings().count devices; they live as long as the process.
EmulatedDevice& device_of_process(int number);

}  // namespace gradcoll::emulated
