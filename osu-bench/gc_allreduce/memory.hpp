// memory.hpp - where the vectors of the calls lie: in the host's memory or in a device's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace gradcoll::bench {

/// One kind of memory. Used by one thread. What fails ends the job, with the device's own words.
class Memory {
  public:
    Memory() = default;
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// "host memory", "memory of CUDA device 0 of 2 (NVIDIA H100 80GB HBM3)"
    virtual std::string description() const = 0;
    virtual void* allocate(std::size_t size_bytes) = 0;
    virtual void release(void* memory) = 0;
    /// Between any two of this memory, its host side and plain host memory; done when it returns.
    /// No overlap.
    virtual void copy(void* to, const void* from, std::size_t size_bytes) = 0;
    /// The host memory that this memory is copied to and from at full speed; itself if the CPU
    /// reads it.
    virtual Memory& host_side() = 0;
    bool is_host() { return &host_side() == this; }
};

/// A piece of it.
class Buffer {
  public:
    Buffer(Memory& memory, std::size_t size_bytes)
        : memory_(memory), data_(memory.allocate(size_bytes)) {}
    ~Buffer() { memory_.release(data_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void* data() { return data_; }
    const void* data() const { return data_; }

  private:
    Memory& memory_;
    void* data_;
};

/// This rank's memory, or why it has none and the exit status that says so.
struct OpenedMemory {
    std::unique_ptr<Memory> memory;
    std::string problem;
    int exit_status = 0;
};

/// What scripts take for "there is no such device here", not for a failure.
inline constexpr int no_device_status = 77;

}  // namespace gradcoll::bench
