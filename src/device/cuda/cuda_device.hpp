// device/cuda/cuda_device.hpp - a GPU of NVIDIA behind the face of memory/device.hpp.
#pragma once

#include <memory>

#include "device/cuda/context.hpp"
#include "memory/device.hpp"

namespace gradcoll {

/// Returns the device, by one question to the driver, which is cheap. Makes no context.
int cuda_device_of(const void* pointer);

class CudaDevice final : public Device {
  public:
    /// Makes no context: that comes with the first memory or stream. Errors: transport.
    static Result<std::unique_ptr<CudaDevice>> make(int number);

    const DevicePlace& place() const override { return place_; }
    DeviceContext& context() { return context_; }

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

  private:
    CudaDevice(int number, DevicePlace place);

    const int number_;
    const DevicePlace place_;
    DeviceContext context_;
};

}  // namespace gradcoll
