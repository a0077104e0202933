// mover/execution/device_memory.hpp - takes blocks of a machine's memory, never more than its
// device may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mover/execution/machine.hpp"

namespace gradcoll::mover {

/// DeviceMemory keeps blocks that are given back for later requests of their size, as the
/// allocators of frameworks do, since fresh pages cost time; blocks kept and blocks in use together
/// stay within `most`. Not thread safe.
class DeviceMemory {
  public:
    DeviceMemory(Machine& machine, std::int64_t most) : machine_(machine), most_(most) {}
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    /// Returns null if the machine gets no more. The caller has counted that `bytes` are free.
    std::byte* take(std::int64_t bytes);
    void give_back(std::byte* block, std::int64_t bytes);
    /// Counts `bytes` as taken by others; a negative number gives them back.
    void set_aside(std::int64_t bytes);

    /// Returns the most that was in use at once.
    std::int64_t peak() const { return peak_; }

  private:
    void release_kept(std::int64_t until);

    Machine& machine_;
    std::int64_t most_;
    std::int64_t used_ = 0, kept_ = 0, peak_ = 0;
    std::map<std::int64_t, std::vector<std::byte*>> free_;  ///< by size
};

}  // namespace gradcoll::mover
