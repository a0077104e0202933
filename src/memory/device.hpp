// memory/device.hpp - a device with memory of its own (a GPU): what the library asks of it. The
// library itself links no device runtime; plug-ins implement this (device/plugin.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"

namespace gradcoll {

/// A DeviceMark is a moment in the order of a stream. It is recorded again and again; a mark that
/// was never recorded has passed. Used by one thread at a time.
class DeviceMark {
  public:
    virtual ~DeviceMark() = default;
    /// Returns whether all work before the last record has ended. Never blocks. Errors: transport
    /// (the device failed).
    virtual Result<bool> passed() = 0;
};

/// Waits where there is nothing else to do: looks at the mark until it has passed, and gives the
/// core away in between. Errors: those of DeviceMark::passed.
Status wait_until_passed(DeviceMark& mark);

/// A DeviceStream is work that a device does in order. Nothing here waits for the device. Used by
/// one thread at a time. Errors of all calls: transport, naming what the device's runtime said.
class DeviceStream {
  public:
    virtual ~DeviceStream() = default;
    /// Copies between any two of: this device's memory, pinned memory, and memory opened from a
    /// peer. Pageable host memory works, too, but the call may then wait. No overlap.
    virtual Status copy(void* to, const void* from, std::size_t size_bytes) = 0;
    virtual Status record(DeviceMark& mark) = 0;
    /// Lets later work of this stream begin after the mark has passed.
    virtual Status wait_for(DeviceMark& mark) = 0;
    /// Returns what kernels are launched on (CUDA: cudaStream_t).
    virtual void* native() = 0;
};

/// A DeviceHandle names an allocation to other processes of the host; it is bytes as they travel.
struct DeviceHandle {
    std::array<std::byte, 64> bytes{};
    friend bool operator==(const DeviceHandle&, const DeviceHandle&) = default;
};

/// DeviceAllocation is the allocation around a pointer.
struct DeviceAllocation {
    void* base = nullptr;
    std::size_t size_bytes = 0;
    std::uint64_t id =
        0;  ///< number of this allocation alone, in this process, for ever; 0: not known
};

/// DevicePlace says where a device is plugged in, for the tree.
struct DevicePlace {
    std::string bus_id;  ///< PCI address in lower case: "0000:3b:00.0"
    std::array<std::byte, 16> uuid{};
    std::string name;  ///< "NVIDIA H100 80GB HBM3"
};

/// A Device is one device of this process. Thread safe. It lives until the process ends. Calls of
/// any thread leave that thread's current device as it was. Errors: out_of_memory naming the bytes;
/// transport.
class Device {
  public:
    virtual ~Device() = default;
    virtual const DevicePlace& place() const = 0;

    virtual Result<void*> allocate(std::size_t size_bytes) = 0;
    virtual void release(void* memory) = 0;
    /// Allocates host memory that the device copies from and to without help of the CPU.
    virtual Result<void*> allocate_pinned(std::size_t size_bytes) = 0;
    virtual void release_pinned(void* memory) = 0;

    /// Makes a stream that waits for no other.
    virtual Result<std::unique_ptr<DeviceStream>> make_stream() = 0;
    /// Takes a stream of the user; null stands for the device's default stream, which waits for all
    /// blocking ones.
    virtual Result<std::unique_ptr<DeviceStream>> adopt_stream(void* native) = 0;
    virtual Result<std::unique_ptr<DeviceMark>> make_mark() = 0;

    /// Returns the allocation of a pointer. Errors: invalid_buffer if the pointer is no memory of
    /// this device.
    virtual Result<DeviceAllocation> allocation_of(const void* pointer) = 0;
    /// Makes a handle for other processes of this host. Errors: unsupported if this allocation, or
    /// any on this system, cannot be shared.
    virtual Result<DeviceHandle> share(const DeviceAllocation& allocation) = 0;
    /// Maps memory of another process of this host, on this device or a peer that it reaches. It
    /// stays mapped until close(). Errors: unsupported (a device that is not reached), corrupt (no
    /// handle of any allocation).
    virtual Result<void*> open(const DeviceHandle& handle) = 0;
    virtual void close(void* opened) = 0;
};

}  // namespace gradcoll
