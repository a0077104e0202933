#include "device/cuda/cuda_stream.hpp"

namespace gradcoll {
namespace {

cudaEvent_t event_of(DeviceMark& mark) {
    return static_cast<CudaMark&>(mark).event();
}

}  // namespace

Result<std::unique_ptr<DeviceMark>> CudaMark::make(DeviceContext& context) {
    cudaEvent_t event = nullptr;
    GRADCOLL_TRY(context.run("cudaEventCreateWithFlags", [&] {
        return cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    }));
    return std::unique_ptr<DeviceMark>(new CudaMark(context, event));
}

CudaMark::~CudaMark() {
    // An event may go before it was reached. While the process leaves, CUDA may be gone already.
    [[maybe_unused]] const Status ignored =
        context_.run("cudaEventDestroy", [this] { return cudaEventDestroy(event_); });
}

Result<bool> CudaMark::passed() {
    cudaError_t error = cudaSuccess;
    GRADCOLL_TRY(context_.run_for_error(error, [this] { return cudaEventQuery(event_); }));
    if (error == cudaErrorNotReady) {
        cudaGetLastError();
        return false;
    }
    GRADCOLL_TRY(from_cuda(error, "cudaEventQuery"));
    return true;
}

Result<std::unique_ptr<DeviceStream>> CudaStream::make(DeviceContext& context) {
    cudaStream_t stream = nullptr;
    GRADCOLL_TRY(context.run("cudaStreamCreateWithFlags", [&] {
        return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }));
    return std::unique_ptr<DeviceStream>(new CudaStream(context, stream, true));
}

std::unique_ptr<DeviceStream> CudaStream::adopt(DeviceContext& context, void* native) {
    const auto stream = native != nullptr ? static_cast<cudaStream_t>(native) : cudaStreamLegacy;
    return std::unique_ptr<DeviceStream>(new CudaStream(context, stream, false));
}

CudaStream::~CudaStream() {
    if (!owned_) return;
    // What was given to it is still done.
    [[maybe_unused]] const Status ignored =
        context_.run("cudaStreamDestroy", [this] { return cudaStreamDestroy(stream_); });
}

Status CudaStream::copy(void* to, const void* from, std::size_t size_bytes) {
    if (size_bytes == 0) return {};
    return context_.run("cudaMemcpyAsync", [&] {
        return cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream_);
    });
}

Status CudaStream::record(DeviceMark& mark) {
    return context_.run("cudaEventRecord",
                        [&] { return cudaEventRecord(event_of(mark), stream_); });
}

Status CudaStream::wait_for(DeviceMark& mark) {
    return context_.run("cudaStreamWaitEvent",
                        [&] { return cudaStreamWaitEvent(stream_, event_of(mark), 0); });
}

}  // namespace gradcoll
