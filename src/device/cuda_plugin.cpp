// libgradcoll_cuda.so: the plug-in for GPUs of NVIDIA.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "compress/codec_cuda.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/plugin.hpp"
#include "reduce/reduce_launch.hpp"

namespace gradcoll {
namespace {

using DeviceList = std::vector<std::unique_ptr<CudaDevice>>;

/// Returns the list that start() fills. It is never destroyed: calls may still arrive while the
/// process leaves.
DeviceList& devices() {
    static DeviceList& devices = *new DeviceList;
    return devices;
}

/// Returns "13.0" for 13000.
std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Returns the error. The runtime cannot be asked for the driver's version: it is what found it too
/// old.
Status too_old() {
    return {Code::unsupported,
            fmt::format("driver too old: it is for CUDA {}, this is built with {}",
                        version_text(cuda_driver_version()), version_text(CUDART_VERSION))};
}

/// Counts the devices without making a context.
Result<int> count_devices() {
    if (!has_cuda_driver())
        return Status(Code::unsupported, "no CUDA driver (libcuda.so.1 was not found)");
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver || cuda_driver() == nullptr) return too_old();
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
        return Status(Code::unsupported, "no CUDA device is visible");
    if (error != cudaSuccess)
        return Status(Code::unsupported, from_cuda(error, "cudaGetDeviceCount").message());
    return count;
}

Status make_devices() {
    const Result<int> count = count_devices();
    if (!count.ok()) return count.status();
    for (int number = 0; number < *count; ++number) {
        auto device = CudaDevice::make(number);
        if (!device.ok()) return device.status();
        devices().push_back(std::move(device).value());
    }
    return {};
}

Status start() {
    static const Status status = make_devices();
    return status;
}

int device_count() {
    return static_cast<int>(devices().size());
}

Result<Device*> device(int number) {
    if (number < 0 || number >= device_count())
        return Status(Code::invalid_argument,
                      fmt::format("device {} is not allowed: 0 to {}", number, device_count() - 1));
    return static_cast<Device*>(devices()[static_cast<std::size_t>(number)].get());
}

/// Asks the driver first: the program may use another copy of the runtime, whose choice shows in
/// the driver alone.
int current_device() {
    int number = 0;
    if (cuda_driver()->context_get_device(&number) == CUDA_SUCCESS) return number;
    return cudaGetDevice(&number) == cudaSuccess ? number : 0;
}

/// Returns the context of a stream; for one of the default streams that of the device that has the
/// memory.
Result<CUcontext> context_of(void* stream, const void* memory) {
    const bool is_default =
        stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    if (is_default) {
        const int owner = cuda_device_of(memory);
        const int number = owner >= 0 ? owner : current_device();
        return devices()[static_cast<std::size_t>(number)]->context().handle();
    }
    CUcontext context = nullptr;
    GRADCOLL_TRY(
        from_cuda(cuda_driver()->stream_get_context(static_cast<CUstream>(stream), &context),
                  "cuStreamGetCtx"));
    return context;
}

/// Launches kernels on the stream's device, whatever the calling thread's is. `memory` is some of
/// the device's.
template <class Launch>
Status on_device_of(void* stream, const void* memory, const Launch& launch) {
    const Result<CUcontext> context = context_of(stream, memory);
    if (!context.ok()) return context.status();
    const CurrentContext current(*context);
    GRADCOLL_TRY(current.status());
    return launch();
}

Status launch_codec(const CodecLaunch& launch, std::span<const CodecJob> jobs) {
    if (jobs.empty()) return launch_codec_cuda(launch, jobs);
    return on_device_of(launch.stream, jobs.front().out,
                        [&] { return launch_codec_cuda(launch, jobs); });
}

Status move_blocks(void* stream, std::span<const BlockMove> moves) {
    if (moves.empty()) return {};
    return on_device_of(stream, moves.front().in,
                        [&] { return launch_block_moves_cuda(stream, moves); });
}

Status launch_reduce(const ReduceLaunch& launch, std::span<const ReduceJob> jobs) {
    if (jobs.empty()) return {};
    return on_device_of(launch.stream, jobs.front().out,
                        [&] { return launch_reduce_cuda(launch, jobs); });
}

constexpr const char* name = "CUDA";

}  // namespace
}  // namespace gradcoll

extern "C" [[gnu::visibility("default")]] const gradcoll::DevicePlugin* gradcoll_device_plugin() {
    using namespace gradcoll;
    static const DevicePlugin plugin{device_plugin_abi,
                                     device_plugin_build(),
                                     name,
                                     start,
                                     device_count,
                                     device,
                                     cuda_device_of,
                                     current_device,
                                     runs_codec_cuda,
                                     launch_codec,
                                     move_blocks,
                                     launch_reduce};
    return &plugin;
}
