// runtime/operation_trace.hpp - what the trace says of an operation as a whole: its name, its span,
// and the stretches in which it was waited for and had nothing to do.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "runtime/operation.hpp"

namespace gradcoll {

/// Returns a text such as "allreduce 64 MiB fp32 2:4", with the codecs of this rank's messages;
/// several become "exact+2:4". The text for a plan of another builder than flexreduce ends with its
/// name: "... exact by star".
std::string operation_label(const Plan& plan);

/// Adds the span of an operation that has just ended. `label` comes from Trace::label().
void trace_operation(const Operation& operation, std::uint32_t label, std::uint64_t begin_ns);

/// An IdleSpan makes one span "wait" of the trace from turns in a row that did nothing. Without a
/// trace it does nothing.
class IdleSpan {
  public:
    /// Shorter spans are left out: a look at the network takes as long.
    static constexpr std::uint64_t shortest_ns = 1000;

    explicit IdleSpan(const Operation& operation) : operation_(operation) {}

    void before_turn() {
        if (operation_.trace) turn_begin_ns_ = now_ns();
    }
    void after_turn(bool was_idle) {
        if (!operation_.trace) return;
        if (was_idle) {
            if (!idle_) begin_ns_ = turn_begin_ns_;
        } else if (idle_ && turn_begin_ns_ - begin_ns_ >= shortest_ns) {
            add();
        }
        idle_ = was_idle;
    }

  private:
    /// Adds the span, which ends where the turn began that did something.
    void add() const {
        operation_.trace->add({.name = "wait",
                               .begin_ns = begin_ns_,
                               .end_ns = turn_begin_ns_,
                               .operation = operation_.binding.sequence});
    }

    const Operation& operation_;
    std::uint64_t turn_begin_ns_ = 0;
    std::uint64_t begin_ns_ = 0;
    bool idle_ = false;
};

}  // namespace gradcoll
