// observe/step_trace.hpp - the steps of calls in shared memory as spans of a trace.
#pragma once

#include "runtime/one_host/step_watch.hpp"
#include "runtime/trace.hpp"

namespace gradcoll {

/// StepTrace records spans "write" (copying or combining, up to an announcement to the others),
/// "wait", and "read" (copying or combining for this rank alone). Spans that are shorter than a
/// clock can tell are left out. Used by one thread at a time; the trace must outlive it.
class StepTrace final : public StepWatch {
  public:
    explicit StepTrace(Trace& trace) : trace_(trace) {}

    void begins() override;
    void has_announced(std::uint32_t step) override;
    void waits() override;
    void has_waited(int rank, std::uint32_t step) override;
    /// Ends the call that began.
    void ends();

  private:
    /// Adds a span from the last event to now.
    void add(const char* name, int peer, std::int64_t step);

    Trace& trace_;
    std::uint64_t last_ns_ = 0;
};

}  // namespace gradcoll
