#include "device/cuda/context.hpp"

#include <fmt/format.h>

namespace gradcoll {

Status from_cuda(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return {};
    cudaGetLastError();
    return {Code::transport, fmt::format("{} failed: {}: {}", call, cudaGetErrorName(error),
                                         cudaGetErrorString(error))};
}

Status from_cuda(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return {};
    const char* name = nullptr;
    const char* text = nullptr;
    cuda_driver()->get_error_name(result, &name);
    cuda_driver()->get_error_string(result, &text);
    return {Code::transport,
            fmt::format("{} failed: {}: {}", call, name != nullptr ? name : "an unknown error",
                        text != nullptr ? text : std::to_string(result))};
}

CurrentContext::CurrentContext(CUcontext context)
    : status_(from_cuda(cuda_driver()->context_push(context), "cuCtxPushCurrent")) {}

CurrentContext::~CurrentContext() {
    CUcontext popped = nullptr;
    if (status_.ok()) cuda_driver()->context_pop(&popped);
}

Result<CUcontext> DeviceContext::handle() {
    std::call_once(once_, [this] { retain(); });
    if (!status_.ok()) return status_;
    return context_;
}

void DeviceContext::retain() {
    CUdevice device = 0;
    status_ = from_cuda(cuda_driver()->device_get(&device, device_), "cuDeviceGet");
    if (status_.ok())
        status_ = from_cuda(cuda_driver()->primary_context_retain(&context_, device),
                            "cuDevicePrimaryCtxRetain");
}

}  // namespace gradcoll
