// topology/probe/figures.hpp - what has been measured so far, and the order in which more is
// measured.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// Rounds are sets of pairs that may be measured at the same time: no host is twice in one round.
using Rounds = std::vector<std::vector<HostPair>>;

/// Lets every host meet every other, as many pairs at a time as there are without a common host; at
/// most `most` rounds (each host then meets `most` others).
Rounds tournament(std::span<const int> hosts, int most);
/// Lets every host meet every other, one pair at a time, so that no two pairs share a link.
Rounds one_by_one(std::span<const int> hosts);

/// A Cost holds the measurements of one pair. Disturbances only add time: the value that is seen
/// twice at the bottom is what the link can do.
struct Cost {
    double low = 0;     ///< the smallest figure
    double second = 0;  ///< the second smallest
    int count = 0;      ///< how many figures there are
    int calm = 0;       ///< how many of them were taken undisturbed
};

/// Figures measures and remembers. A pair counts the same in both directions.
class Figures {
  public:
    Figures(Ruler& ruler, int host_count, ProbeEffort effort);

    /// Runs the rounds of all groups side by side: round i of every group at the same time. Groups
    /// have no host in common. Each round is run several times; all rounds are run before any is
    /// repeated, so that a disturbance does not meet the same pair each time, and the direction is
    /// reversed each time. Pairs whose two smallest figures differ by more than a tenth, or that
    /// have not been measured undisturbed twice, are measured some times more; once is enough if
    /// they are far from each other anyway. Pairs that are known are left out.
    Status ask(Signal signal, std::span<const Rounds> groups);

    /// Forgets the pairs among these hosts, since they shared links with others when they were
    /// measured.
    void forget(Signal signal, std::span<const int> hosts);

    /// Returns the GB/s that the pairs of each group carry together, while all groups send at once:
    /// the median of several measurements, of undisturbed ones if there are any. 0 (not known) if
    /// the time was spent before.
    Result<std::vector<double>> rates_together(std::span<const std::vector<HostPair>> groups);

    /// Returns whether any figure of bulk or stream rests on disturbed measurements.
    bool has_disturbed() const;

    /// Returns null if the pair has not been measured.
    const Cost* find(Signal signal, int a, int b) const;
    /// Return the smallest cost of any pair, and of any pair with this host; infinite if there is
    /// none.
    double best(Signal signal) const { return best_[static_cast<std::size_t>(signal)]; }
    double best_of(Signal signal, int host) const;
    /// Returns the ratio of a pair's second smallest figure to its smallest: the median over all
    /// pairs, at least 1. If it is large the machine is busy, and less can be distinguished.
    double noise(Signal signal) const;

    bool spent() const { return ruler_.spent(); }
    ProbeEffort effort() const { return effort_; }
    int host_count() const { return host_count_; }
    int rounds() const { return rounds_; }  ///< including repetitions

  private:
    std::uint64_t key(int a, int b) const;
    std::vector<std::vector<HostPair>> merged(Signal signal, std::span<const Rounds> groups) const;
    bool settled(Signal signal, HostPair pair) const;
    bool is_far(Signal signal, HostPair pair) const;
    bool is_disturbed(Signal signal, HostPair pair) const;
    void leave_out(std::vector<std::vector<HostPair>>& rounds, Signal signal, bool all_due) const;
    Status run(Signal signal, std::vector<HostPair> pairs, bool reversed);
    void add(Signal signal, HostPair pair, Measured measured);

    Ruler& ruler_;
    int host_count_;
    ProbeEffort effort_;
    int rounds_ = 0;
    bool has_disturbed_rates_ = false;
    std::array<std::unordered_map<std::uint64_t, Cost>, signal_count> costs_;
    std::array<double, signal_count> best_;
    std::array<std::vector<double>, signal_count> best_of_;
};

}  // namespace gradcoll
