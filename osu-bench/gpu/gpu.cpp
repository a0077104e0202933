// gpu.cpp - owns memory, streams and recorded launches.
#include "gpu.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradcoll::bench {

void require(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        throw std::runtime_error(fmt::format("{}: {}", what, cudaGetErrorString(error)));
    }
}

std::string no_device(int number) {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) {
        return cudaGetErrorString(error);
    }
    if (number >= devices) {
        return fmt::format("--device {}: there are {}", number, devices);
    }
    const cudaError_t refused = cudaSetDevice(number);
    return refused == cudaSuccess ? "" : cudaGetErrorString(refused);
}

GpuFacts facts_of(int number) {
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, number), "asking for the device's properties");
    GpuFacts facts;
    facts.device = properties.name;
    facts.major = properties.major;
    facts.minor = properties.minor;
    facts.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    require(cudaRuntimeGetVersion(&facts.runtime), "asking for the runtime's version");
    require(cudaDriverGetVersion(&facts.driver), "asking for the driver's version");
    return facts;
}

GpuBuffer::GpuBuffer(std::size_t size_bytes) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, size_bytes),
            fmt::format("allocating {} bytes", size_bytes).c_str());
    data_ = static_cast<std::byte*>(memory);
}

GpuBuffer::~GpuBuffer() {
    cudaFree(data_);
}

GpuStream::GpuStream() {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

GpuStream::~GpuStream() {
    cudaStreamDestroy(stream_);
}

Batch::Batch(const GpuStream& stream, Launching launching, int calls,
             std::function<void(int)> launch)
    : stream_(stream), calls_(calls), launch_(std::move(launch)) {
    require(cudaEventCreate(&begin_), "making an event");
    require(cudaEventCreate(&end_), "making an event");
    if (launching == Launching::recorded) {
        record();
    }
}

void Batch::launch_all() const {
    for (int call = 0; call < calls_; ++call) {
        launch_(call);
    }
}

void Batch::record() {
    require(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal),
            "recording launches");
    launch_all();
    cudaGraph_t graph = nullptr;
    require(cudaStreamEndCapture(stream_.get(), &graph), "recording launches");
    require(cudaGraphInstantiateWithFlags(&recorded_, graph, 0), "making a graph");
    require(cudaGraphDestroy(graph), "making a graph");
}

Batch::~Batch() {
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
    if (recorded_ != nullptr) {
        cudaGraphExecDestroy(recorded_);
    }
}

double Batch::seconds_per_call() const {
    require(cudaEventRecord(begin_, stream_.get()), "recording an event");
    if (recorded_ != nullptr) {
        require(cudaGraphLaunch(recorded_, stream_.get()), "replaying launches");
    } else {
        launch_all();
    }
    require(cudaEventRecord(end_, stream_.get()), "recording an event");
    require(cudaEventSynchronize(end_), "waiting for the device");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading the device's clock");
    return static_cast<double>(milliseconds) * 1e-3 / calls_;
}

}  // namespace gradcoll::bench
