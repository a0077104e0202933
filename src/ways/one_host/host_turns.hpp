// ways/one_host/host_turns.hpp - operations in the memory of one host that nobody waits for: one
// after the other, in the order in which they were begun.
#pragma once

#include <atomic>
#include <cstdint>

#include "ways/one_host/host_memory.hpp"

namespace gradcoll {

/// HostTurns gives turns to operations. Turns are given by one thread at a time, and operations
/// advanced by one thread at a time.
class HostTurns {
  public:
    /// Gives the next turn. Every rank gives turns to the same operations in the same order.
    std::uint64_t give() { return given_++; }
    bool all_are_over() const { return over_.load(std::memory_order_acquire) == given_; }

    /// Advances the operation that has this turn. It is idle until the turn has come; then `start`
    /// starts it in the engine. Whatever the end, the turn is over then. Errors: those of the call.
    template <class Start>
    Result<Progress> advance(HostMemory& engine, std::uint64_t turn, Start&& start) {
        if (over_.load(std::memory_order_relaxed) != turn) return Progress::idle;
        if (!has_begun_) start();
        has_begun_ = true;
        const auto progress = engine.advance_started();
        if (progress.ok() && *progress != Progress::complete) return progress;
        has_begun_ = false;
        over_.store(turn + 1, std::memory_order_release);
        return progress;
    }

  private:
    std::uint64_t given_ = 0;
    std::atomic<std::uint64_t> over_{0};
    bool has_begun_ = false;  ///< whether the operation whose turn it is has begun
};

}  // namespace gradcoll
