// nic/transport/agent_watch.hpp - tells an agent that hangs from one that has nothing to do.
#pragma once

#include <chrono>
#include <cstdint>

#include "nic/layout.hpp"

namespace gradcoll {

/// An AgentWatch counts looks, each some time after the one before, and not time: a process that
/// was stopped itself has not seen the agent stand still. Pure but for what it is told.
class AgentWatch {
  public:
    using Clock = std::chrono::steady_clock;

    /// Takes a look. `beats` is what the agent counts. Returns false if that has stood still for
    /// nic_silence.
    bool look(std::uint64_t beats, Clock::time_point now) {
        if (beats != beats_) silent_looks_ = 0;
        if (beats == beats_ && now - last_ < interval) return silent_looks_ < most_looks;
        if (beats == beats_) ++silent_looks_;
        beats_ = beats;
        last_ = now;
        return silent_looks_ < most_looks;
    }

  private:
    static constexpr unsigned most_looks = 10;
    static constexpr Clock::duration interval = nic_silence / most_looks;

    std::uint64_t beats_ = ~std::uint64_t{0};
    Clock::time_point last_;
    unsigned silent_looks_ = 0;
};

}  // namespace gradcoll
