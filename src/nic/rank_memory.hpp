// nic/rank_memory.hpp - how an NIC agent reads the elements that a rank hands in where they lie, in
// place of a copy in its slots.
#pragma once

#include <cstddef>
#include <span>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "nic/layout.hpp"

namespace gradcoll {

/// A RankMemory is a file that a rank has opened of its own memory, to be read alone. It stands for
/// that memory whatever becomes of the process: when that has ended, or runs another program,
/// nothing is read, whoever has its number by then.
class RankMemory {
  public:
    /// Opens the memory of this process; not open where the system does not let it be read so.
    static Descriptor of_this_process();

    /// Makes one of which nothing can be read.
    RankMemory() = default;
    /// Takes a file that another process has handed over. Errors: corrupt if it cannot be one of
    /// of_this_process().
    static Result<RankMemory> of(Descriptor file);

    bool is_there() const { return file_.is_open(); }
    /// Reads the runs one after another; they have as many bytes as `to`. Errors: io if some of
    /// them cannot be read.
    Status read(std::span<const NicRun> runs, std::span<std::byte> to) const;

  private:
    Descriptor file_;
};

}  // namespace gradcoll
