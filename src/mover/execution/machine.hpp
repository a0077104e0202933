// mover/execution/machine.hpp - what an execution moves bytes with: plain memory and a rate, or a
// device.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.hpp"
#include "memory/device.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

enum class Way : std::uint8_t { out, in };

/// Errors of all: out_of_memory; transport if the device failed.
class Machine {
  public:
    virtual ~Machine() = default;

    virtual Result<std::byte*> allocate(std::int64_t bytes) = 0;
    virtual void release(std::byte* memory) = 0;
    /// Memory of the host that moves go to and come from; the CPU reads it.
    virtual Result<std::byte*> allocate_pool(std::int64_t bytes) = 0;
    virtual void release_pool(std::byte* memory) = 0;

    /// Returns when the bytes are there, and how long that took. A thread of its own each way.
    virtual Result<Tick> move(Way way, std::byte* to, const std::byte* from, std::int64_t bytes,
                              const Lane& lane) = 0;
    /// Between steps, of pool and device memory. Returns when it is done.
    virtual Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
    virtual Status zero(std::byte* memory, std::int64_t bytes) = 0;
    /// Returns when the work that the program has given the device has ended.
    virtual Status finish_operator() = 0;
};

/// Memory of the process, no faster than the lane.
std::unique_ptr<Machine> plain_machine();

/// A stream each way beside the program's `compute` (null: the default stream), and pinned memory.
/// As fast as the link is. Errors: those of the device.
Result<std::unique_ptr<Machine>> device_machine(Device& device, void* compute);

}  // namespace gradcoll::mover
