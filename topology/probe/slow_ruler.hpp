// topology/probe/slow_ruler.hpp - a measurement with breaks: figures are remembered, so that the
// caller can start again and quickly reaches the point where it stopped.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// SlowRuler wraps another ruler. The caller must ask for the same figures in the same order each
/// time, as measured_switches() does. Not thread safe.
class SlowRuler : public Ruler {
  public:
    /// `ruler` must outlive this object.
    explicit SlowRuler(Ruler& ruler) : ruler_(ruler) {}

    /// Starts again from the first question. `goes_on` is asked before anything new is measured; if
    /// it returns false, measure() fails and the break begins.
    void start(std::function<bool(Signal)> goes_on) {
        goes_on_ = std::move(goes_on);
        asked_ = 0;
        has_break_ = false;
    }
    /// Returns whether the last failure of measure() was a break, and no error.
    bool has_break() const { return has_break_; }

    Result<std::vector<Measured>> measure(Signal signal, std::span<const HostPair> pairs) override {
        if (asked_ < answers_.size()) return answers_[asked_++];
        if (!goes_on_(signal)) {
            has_break_ = true;
            return Status(Code::unsupported, "the probe has a break");
        }
        auto answer = GRADCOLL_VALUE(ruler_.measure(signal, pairs));
        answers_.push_back(answer);
        ++asked_;
        return answer;
    }
    /// Returns false while it answers from memory, as it did then.
    bool spent() const override { return asked_ == answers_.size() && ruler_.spent(); }

  private:
    Ruler& ruler_;
    std::function<bool(Signal)> goes_on_;
    std::vector<std::vector<Measured>> answers_;
    std::size_t asked_ = 0;
    bool has_break_ = false;
};

}  // namespace gradcoll
