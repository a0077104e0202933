// gpu.hpp - owners of resources on a CUDA device. Failures throw std::runtime_error with the CUDA
// runtime's own text.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "report.hpp"

namespace gradcoll::bench {

void require(cudaError_t error, const char* what);

/// Returns why there is no CUDA device of that number here; empty if there is one, which is then
/// used.
std::string no_device(int number);
GpuFacts facts_of(int number);

/// A GpuBuffer is device memory, aligned to 256 bytes.
class GpuBuffer {
  public:
    GpuBuffer() = default;
    explicit GpuBuffer(std::size_t size_bytes);
    ~GpuBuffer();
    GpuBuffer(GpuBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
    GpuBuffer& operator=(GpuBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        return *this;
    }

    std::byte* data() const { return data_; }

  private:
    std::byte* data_ = nullptr;
};

class GpuStream {
  public:
    GpuStream();
    ~GpuStream();
    GpuStream(const GpuStream&) = delete;
    GpuStream& operator=(const GpuStream&) = delete;

    cudaStream_t get() const { return stream_; }
    void wait() const { require(cudaStreamSynchronize(stream_), "waiting for the device"); }

  private:
    cudaStream_t stream_ = nullptr;
};

/// Launching says how the launches of a batch reach the device: as they are made, or recorded once
/// as a graph and replayed, so that short kernels do not wait for the host.
enum class Launching { one_by_one, recorded };

/// A Batch is several launches, timed together by the device's clock.
class Batch {
  public:
    /// Makes a batch; launch(i) enqueues call i, of `calls`, on `stream`.
    Batch(const GpuStream& stream, Launching launching, int calls, std::function<void(int)> launch);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    double seconds_per_call() const;

  private:
    void record();
    void launch_all() const;

    const GpuStream& stream_;
    int calls_;
    std::function<void(int)> launch_;
    cudaGraphExec_t recorded_ = nullptr;  ///< null: launches are made one by one
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

}  // namespace gradcoll::bench
