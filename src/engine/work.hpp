// engine/work.hpp - what the engine runs: the sum of one gradient, whoever knows how it is done.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.hpp"
#include "runtime/local_step.hpp"
#include "runtime/progress.hpp"

namespace gradcoll {

/// A Work is used by the thread that makes the engine's turns, but for the local steps that it
/// gives out (docs/threads.md#local-steps-on-other-threads).
class Work {
  public:
    Work() = default;
    virtual ~Work() = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    /// Returns whether its sums are always parts of packs (GradientPacker), if need be of a pack of
    /// one. Then nothing else is called but deliver().
    virtual bool is_part_of_packs() const { return false; }
    /// Begins; never waits. Every rank starts the same sums in the same order. After an error
    /// nothing is running.
    virtual Status start() = 0;
    /// Moves messages that can leave or have come. It has ended when it returns complete, or an
    /// error. Never waits.
    virtual Result<Progress> advance() = 0;
    /// Moves the result to where the program wants it, if it came about elsewhere. It is called
    /// when the sum is complete, and before whoever waits hears of it.
    virtual Status deliver() { return {}; }
    /// Moves local steps that are ready to the front of `out` and returns how many. They come back
    /// through their executor.
    virtual std::size_t take_local(std::span<LocalStep> out) = 0;
    /// Drops the sum that is under way, for good: no result is written any more. Waits for local
    /// steps that run just now.
    virtual void abandon() = 0;
};

}  // namespace gradcoll
