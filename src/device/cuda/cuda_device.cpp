#include "device/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "device/cuda/cuda_stream.hpp"

namespace gradcoll {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(DeviceHandle::bytes));
static_assert(sizeof(CUuuid) == sizeof(DevicePlace::uuid));

CUdeviceptr address_of(const void* pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Tells two kinds of error apart: too little memory, and everything else.
Status allocation_failed(cudaError_t error, const char* call, std::size_t size_bytes) {
    Status status = from_cuda(error, call);
    if (error != cudaErrorMemoryAllocation && error != cudaErrorInvalidValue) return status;
    return {Code::out_of_memory,
            fmt::format("cannot allocate {} bytes: {}", size_bytes, status.message())};
}

template <class Allocate>
Result<void*> allocate_with(DeviceContext& context, const char* name, std::size_t size_bytes,
                            Allocate allocate) {
    void* memory = nullptr;
    cudaError_t error = cudaSuccess;
    // Even 0 bytes get an allocation, so that null always means that there is none.
    const std::size_t bytes = std::max<std::size_t>(size_bytes, 1);
    GRADCOLL_TRY(context.run_for_error(error, [&] { return allocate(&memory, bytes); }));
    if (error != cudaSuccess) return allocation_failed(error, name, size_bytes);
    return memory;
}

struct Question {
    CUpointer_attribute name;
    void* answer;
};

/// Returns false if the driver refuses. Leaves zeros for a pointer that it does not know.
template <std::size_t count>
bool ask(const void* pointer, const std::array<Question, count>& questions) {
    CUpointer_attribute names[count];
    void* answers[count];
    for (std::size_t i = 0; i < count; ++i) {
        names[i] = questions[i].name;
        answers[i] = questions[i].answer;
    }
    return pointer != nullptr && cuda_driver()->pointer_get_attributes(
                                     count, names, answers, address_of(pointer)) == CUDA_SUCCESS;
}

Result<DevicePlace> place_of(int number) {
    DevicePlace place;
    char text[64] = {};
    GRADCOLL_TRY(
        from_cuda(cudaDeviceGetPCIBusId(text, sizeof text, number), "cudaDeviceGetPCIBusId"));
    place.bus_id = lower_case(text);  // "0000:3b:00.0", as Linux writes it
    CUdevice device = 0;
    GRADCOLL_TRY(from_cuda(cuda_driver()->device_get(&device, number), "cuDeviceGet"));
    CUuuid uuid{};
    GRADCOLL_TRY(from_cuda(cuda_driver()->device_get_uuid(&uuid, device), "cuDeviceGetUuid"));
    std::memcpy(place.uuid.data(), uuid.bytes, place.uuid.size());
    cudaDeviceProp properties{};
    GRADCOLL_TRY(
        from_cuda(cudaGetDeviceProperties(&properties, number), "cudaGetDeviceProperties"));
    place.name = properties.name;
    return place;
}

}  // namespace

int cuda_device_of(const void* pointer) {
    unsigned memory_type = 0;
    unsigned is_managed = 0;
    int ordinal = -1;
    const bool known =
        ask(pointer, std::array{Question{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, &memory_type},
                                Question{CU_POINTER_ATTRIBUTE_IS_MANAGED, &is_managed},
                                Question{CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, &ordinal}});
    return known && memory_type == CU_MEMORYTYPE_DEVICE && is_managed == 0 ? ordinal : -1;
}

Result<std::unique_ptr<CudaDevice>> CudaDevice::make(int number) {
    DevicePlace place = GRADCOLL_VALUE(place_of(number));
    return std::unique_ptr<CudaDevice>(new CudaDevice(number, std::move(place)));
}

CudaDevice::CudaDevice(int number, DevicePlace place)
    : number_(number), place_(std::move(place)), context_(number) {}

Result<void*> CudaDevice::allocate(std::size_t size_bytes) {
    return allocate_with(context_, "cudaMalloc", size_bytes,
                         [](void** out, std::size_t bytes) { return cudaMalloc(out, bytes); });
}

void CudaDevice::release(void* memory) {
    [[maybe_unused]] const Status ignored =
        context_.run("cudaFree", [&] { return cudaFree(memory); });
}

Result<void*> CudaDevice::allocate_pinned(std::size_t size_bytes) {
    return allocate_with(context_, "cudaHostAlloc", size_bytes, [](void** out, std::size_t bytes) {
        return cudaHostAlloc(out, bytes, cudaHostAllocPortable);
    });
}

void CudaDevice::release_pinned(void* memory) {
    [[maybe_unused]] const Status ignored =
        context_.run("cudaFreeHost", [&] { return cudaFreeHost(memory); });
}

Result<std::unique_ptr<DeviceStream>> CudaDevice::make_stream() {
    return CudaStream::make(context_);
}

Result<std::unique_ptr<DeviceStream>> CudaDevice::adopt_stream(void* native) {
    return CudaStream::adopt(context_, native);
}

Result<std::unique_ptr<DeviceMark>> CudaDevice::make_mark() {
    return CudaMark::make(context_);
}

Result<DeviceAllocation> CudaDevice::allocation_of(const void* pointer) {
    DeviceAllocation allocation;
    CUdeviceptr base = 0;
    unsigned long long id = 0;
    const bool known =
        cuda_device_of(pointer) == number_ &&
        ask(pointer, std::array{Question{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, &base},
                                Question{CU_POINTER_ATTRIBUTE_RANGE_SIZE, &allocation.size_bytes},
                                Question{CU_POINTER_ATTRIBUTE_BUFFER_ID, &id}});
    if (!known)
        return Status(Code::invalid_buffer,
                      fmt::format("{} is no memory of CUDA device {}", pointer, number_));
    allocation.base = reinterpret_cast<void*>(base);  // NOLINT: the driver's pointers are numbers
    allocation.id = id;
    return allocation;
}

Result<DeviceHandle> CudaDevice::share(const DeviceAllocation& allocation) {
    cudaIpcMemHandle_t native{};
    cudaError_t error = cudaSuccess;
    GRADCOLL_TRY(context_.run_for_error(
        error, [&] { return cudaIpcGetMemHandle(&native, allocation.base); }));
    // Memory of pools and of virtual mappings has no such handle, nor has any on some systems.
    if (error != cudaSuccess)
        return Status(Code::unsupported, from_cuda(error, "cudaIpcGetMemHandle").message());
    DeviceHandle handle;
    std::memcpy(handle.bytes.data(), &native, sizeof native);
    return handle;
}

Result<void*> CudaDevice::open(const DeviceHandle& handle) {
    cudaIpcMemHandle_t native{};
    std::memcpy(&native, handle.bytes.data(), sizeof native);
    void* opened = nullptr;
    cudaError_t error = cudaSuccess;
    GRADCOLL_TRY(context_.run_for_error(error, [&] {
        return cudaIpcOpenMemHandle(&opened, native, cudaIpcMemLazyEnablePeerAccess);
    }));
    if (error == cudaSuccess) return opened;
    const bool is_no_handle =
        error == cudaErrorInvalidValue || error == cudaErrorInvalidResourceHandle;
    return Status(is_no_handle ? Code::corrupt : Code::unsupported,
                  from_cuda(error, "cudaIpcOpenMemHandle").message());
}

void CudaDevice::close(void* opened) {
    [[maybe_unused]] const Status ignored =
        context_.run("cudaIpcCloseMemHandle", [&] { return cudaIpcCloseMemHandle(opened); });
}

}  // namespace gradcoll
