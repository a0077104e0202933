// device/cuda/cuda_stream.hpp - streams and marks of a device of NVIDIA.
#pragma once

#include <memory>

#include "device/cuda/context.hpp"
#include "memory/device.hpp"

namespace gradcoll {

/// A CudaMark is an event without timing. Used by one thread at a time.
class CudaMark final : public DeviceMark {
  public:
    static Result<std::unique_ptr<DeviceMark>> make(DeviceContext& context);
    ~CudaMark() override;
    Result<bool> passed() override;
    cudaEvent_t event() const { return event_; }

  private:
    CudaMark(DeviceContext& context, cudaEvent_t event) : context_(context), event_(event) {}

    DeviceContext& context_;
    const cudaEvent_t event_;
};

/// A CudaStream is a stream of its own or a user's. Used by one thread at a time.
class CudaStream final : public DeviceStream {
  public:
    static Result<std::unique_ptr<DeviceStream>> make(DeviceContext& context);
    /// Takes a stream that is not ours; null stands for the legacy default stream.
    static std::unique_ptr<DeviceStream> adopt(DeviceContext& context, void* native);
    ~CudaStream() override;

    Status copy(void* to, const void* from, std::size_t size_bytes) override;
    Status record(DeviceMark& mark) override;
    Status wait_for(DeviceMark& mark) override;
    void* native() override { return stream_; }

  private:
    CudaStream(DeviceContext& context, cudaStream_t stream, bool owned)
        : context_(context), stream_(stream), owned_(owned) {}

    DeviceContext& context_;
    const cudaStream_t stream_;
    const bool owned_;
};

}  // namespace gradcoll
