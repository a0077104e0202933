// engine/gradient.hpp - one gradient of an engine, from sum to sum.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "engine/link_watch.hpp"
#include "engine/messages.hpp"
#include "engine/work.hpp"

namespace gradcoll {

/// GradientTimes belongs to the sum of one gradient that is handed in.
struct GradientTimes {
    std::uint64_t submitted_ns = 0;
    std::uint64_t begun_ns = 0;  ///< 0: not yet
    std::uint32_t label = 0;     ///< label of its name in the trace
    std::uint32_t sum = 0;       ///< number in this process
};

/// A Gradient is known by its name. It stays as long as the engine.
class Gradient {
  public:
    explicit Gradient(std::string name) : name_(std::move(name)) {}

    const std::string& name() const { return name_; }
    /// Returns whether it is handed in, and its outcome not taken yet.
    bool is_busy() const { return state_.load(std::memory_order_acquire) != State::idle; }
    /// Returns whether its sum has ended.
    bool is_complete() const { return state_.load(std::memory_order_acquire) == State::complete; }
    /// Returns the time from the begin of its last sum to the end; 0 if it has not been summed by
    /// itself. Must be called only while it is not busy.
    std::uint64_t took_ns() const { return took_ns_; }
    /// Returns a number that is the same on all ranks, from 0, from the begin of its first sum on.
    /// It is for its work.
    std::uint32_t number() const { return number_; }
    /// Returns what its next sum is to be planned for, the same on all ranks: the part of what is
    /// said of links between hosts that they carry. Must be called only while it is not busy.
    double links_carry() const { return links_carry_; }
    /// The work says how it is summed. The owner changes it only while it is not busy.
    std::unique_ptr<Work> work;

  private:
    friend class Engine;
    friend class EngineWatch;
    enum class State : std::uint8_t { idle, submitted, complete };

    std::string name_;
    std::atomic<State> state_{State::idle};
    Status outcome_;
    std::uint32_t number_ = unnumbered;  ///< set by whoever makes the turns, as are the next three
    std::optional<Said> told_;           ///< what the coordinator was told last
    std::optional<std::uint64_t> agreed_shape_;  ///< shape that all ranks began it with
    bool is_told_ = false;  ///< whether the coordinator was told and has not answered
    bool is_running_ = false;
    std::int32_t priority_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t shape_ = 0;
    std::uint32_t pack_ = 0;
    bool alone_ = false;
    std::uint64_t took_ns_ = 0;
    double links_carry_ = 1;
    ExpectedTime expected_;
    std::string shape_text_;
    GradientTimes times_;  ///< kept by the engine's watch
};

}  // namespace gradcoll
