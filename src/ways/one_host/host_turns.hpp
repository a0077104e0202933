// ways/one_host/host_turns.hpp - operations in the memory of one host that nobody waits for: one
// after the other, in the order in which they were begun.
#pragma once

#include <atomic>
#include <cstdint>

#include "ways/one_host/one_host_engine.hpp"

namespace gradcoll {

/// Turns are given by one thread at a time, and operations advanced by one thread at a time.
class HostTurns {
  public:
    /// The next. Every rank gives turns to the same operations in the same order.
    std::uint64_t give() { return given_++; }
    bool all_are_over() const { return over_.load(std::memory_order_acquire) == given_; }

    /// The operation that has the turn: `start` starts it in the engine when its turn has come,
    /// and it is idle before. Whatever the end, the turn is over then. Errors: those of the call.
    template <class Start>
    Result<Progress> advance(OneHostEngine& engine, std::uint64_t turn, Start&& start) {
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
    bool has_begun_ = false;  ///< the operation whose turn it is
};

}  // namespace gradcoll
