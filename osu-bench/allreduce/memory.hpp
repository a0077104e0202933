// memory.hpp - the memory of the calls' vectors: the host's or a device's, and how it is opened by
// its name.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace gradcoll::bench {

/// A Memory is one kind of memory, used by one thread. A failure ends the job, with the device's
/// own text.
class Memory {
  public:
    Memory() = default;
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Returns a text such as "host memory" or "memory of CUDA device 0 of 2 (NVIDIA H100 80GB
    /// HBM3)".
    virtual std::string description() const = 0;
    virtual void* allocate(std::size_t size_bytes) = 0;
    virtual void release(void* memory) = 0;
    /// Copies between any two of this memory, its host side and plain host memory; done on return.
    /// The ranges do not overlap.
    virtual void copy(void* to, const void* from, std::size_t size_bytes) = 0;
    /// Returns the host memory that this memory is copied to and from at full speed; itself if the
    /// CPU reads it.
    virtual Memory& host_side() = 0;
    bool is_host() { return &host_side() == this; }
};

/// A Buffer is a piece of a memory.
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

/// OpenedMemory is this rank's memory, or why it has none and the exit status for that.
struct OpenedMemory {
    std::unique_ptr<Memory> memory;
    std::string problem;
    int exit_status = 0;
};

/// Scripts take this status for "there is no such device here", not for a failure.
inline constexpr int no_device_status = 77;

/// Opens a memory: "host", or a device plug-in by its name in lower case ("cuda"). Ranks of one
/// host take its devices in turn. Collective over MPI_COMM_WORLD; the result is for this rank
/// alone.
OpenedMemory open_memory(const std::string& name);

/// Does what open_memory() (memory.hpp) does, for the names of devices.
OpenedMemory open_device_memory(const std::string& name);

}  // namespace gradcoll::bench
