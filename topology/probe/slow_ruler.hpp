// topology/probe/slow_ruler.hpp - a measurement with breaks: what was measured is remembered, so
// that whoever asks can begin again and comes to where it stopped.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// In front of another ruler. Who measures with it must ask for the same in the same order each
/// time, as measured_switches() does. Not thread safe.
class SlowRuler : public Ruler {
  public:
    /// `ruler` must outlive it.
    explicit SlowRuler(Ruler& ruler) : ruler_(ruler) {}

    /// From the first question again. `goes_on` is asked before anything new is measured; where it
    /// denies, measure() fails and the break begins.
    void start(std::function<bool(Signal)> goes_on);
    /// Whether the last failure of measure() was a break, and no error.
    bool has_break() const { return has_break_; }

    Result<std::vector<double>> measure(Signal signal, std::span<const HostPair> pairs) override;
    /// False while it answers from memory, as it was then.
    bool spent() const override { return asked_ == answers_.size() && ruler_.spent(); }

  private:
    Ruler& ruler_;
    std::function<bool(Signal)> goes_on_;
    std::vector<std::vector<double>> answers_;
    std::size_t asked_ = 0;
    bool has_break_ = false;
};

}  // namespace gradcoll
