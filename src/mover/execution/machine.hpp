// mover/execution/machine.hpp - what an execution moves bytes with: plain memory with a rate, or a
// device.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.hpp"
#include "memory/device.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

enum class Way : std::uint8_t { out, in };

/// A Machine allocates and moves memory for an execution. All calls return out_of_memory, or
/// transport if the device failed.
class Machine {
  public:
    virtual ~Machine() = default;

    virtual Result<std::byte*> allocate(std::int64_t bytes) = 0;
    virtual void release(std::byte* memory) = 0;
    /// Returns whether free() releases memory as well.
    virtual bool is_of_malloc() const = 0;
    /// Returns memory of the host that moves go to and come from; the CPU can read it.
    virtual Result<std::byte*> allocate_pool(std::int64_t bytes) = 0;
    virtual void release_pool(std::byte* memory) = 0;

    /// Returns how long the move took, once the bytes are there. A thread of its own calls it for
    /// each direction.
    virtual Result<Tick> move(Way way, std::byte* to, const std::byte* from, std::int64_t bytes,
                              const Lane& lane) = 0;
    /// Copies bytes between pool and device memory, between steps. Returns when it is done.
    virtual Status copy(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
    virtual Status zero(std::byte* memory, std::int64_t bytes) = 0;
    /// Returns when the work that the program has given the device has ended.
    virtual Status finish_operator() = 0;
};

/// Makes a machine of process memory that moves bytes no faster than the lane.
std::unique_ptr<Machine> plain_machine();

/// Makes a machine with pinned memory and a stream for each direction, beside the program's
/// `compute` stream (null: the default stream). Moves are as fast as the link is. Errors: those of
/// the device.
Result<std::unique_ptr<Machine>> device_machine(Device& device, void* compute);

}  // namespace gradcoll::mover
