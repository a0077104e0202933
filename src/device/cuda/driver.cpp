#include "device/cuda/context.hpp"

#include <dlfcn.h>

#include <optional>

namespace gradcoll {
namespace {

void* library() {
    static void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return driver;
}

template <class Function>
bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library(), name));
    return function != nullptr;
}

/// Looks the functions up by the names behind the macros of <cuda.h>.
std::optional<CudaDriver> look_up() {
    if (library() == nullptr) return {};
    CudaDriver driver{};
    const bool complete = find(driver.get_error_name, "cuGetErrorName") &&
                          find(driver.get_error_string, "cuGetErrorString") &&
                          find(driver.device_get, "cuDeviceGet") &&
                          find(driver.device_get_uuid, "cuDeviceGetUuid_v2") &&
                          find(driver.primary_context_retain, "cuDevicePrimaryCtxRetain") &&
                          find(driver.context_push, "cuCtxPushCurrent_v2") &&
                          find(driver.context_pop, "cuCtxPopCurrent_v2") &&
                          find(driver.context_get_device, "cuCtxGetDevice") &&
                          find(driver.stream_get_context, "cuStreamGetCtx") &&
                          find(driver.pointer_get_attributes, "cuPointerGetAttributes");
    return complete ? std::optional(driver) : std::nullopt;
}

}  // namespace

const CudaDriver* cuda_driver() {
    static const std::optional<CudaDriver> driver = look_up();
    return driver ? &*driver : nullptr;
}

bool has_cuda_driver() {
    return library() != nullptr;
}

int cuda_driver_version() {
    CUresult (*get_version)(int*) = nullptr;
    int version = 0;
    const bool told = has_cuda_driver() && find(get_version, "cuDriverGetVersion") &&
                      get_version(&version) == CUDA_SUCCESS;
    return told ? version : 0;
}

}  // namespace gradcoll
