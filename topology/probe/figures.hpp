// topology/probe/figures.hpp - what has been measured so far, and the order in which more is.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topology/probe/ruler.hpp"

namespace gradcoll {

/// Rounds of pairs that may run at the same time: no host is twice in one round.
using Rounds = std::vector<std::vector<HostPair>>;

/// Everybody with everybody, as many at a time as there are pairs without a common host; at most
/// `most` rounds (each host then meets `most` others).
Rounds tournament(std::span<const int> hosts, int most);
/// Everybody with everybody, one pair at a time: pairs that share a link do not meet on it.
Rounds one_by_one(std::span<const int> hosts);

/// Several measurements of one pair. Disturbances only ever add: what is seen twice at the bottom
/// is what the link does.
struct Cost {
    double low = 0;     ///< the smallest
    double second = 0;  ///< the next
};

/// Measures and remembers. A pair counts the same in both directions.
class Figures {
  public:
    Figures(Ruler& ruler, int host_count, ProbeEffort effort);

    /// Runs the rounds of all groups side by side: round i of every group at the same time. Hosts
    /// of different groups are different. Each round is run several times, not one after the other
    /// but all rounds again, so that a disturbance does not meet the same pair each time, and with
    /// the direction reversed each time; pairs whose two smallest figures differ by more than a
    /// tenth some times more, unless they are far from each other anyway. Pairs that are known are
    /// left out.
    Status ask(Signal signal, std::span<const Rounds> groups);

    /// Pairs among these hosts count as not measured: they shared links with others when they were.
    void forget(Signal signal, std::span<const int> hosts);

    /// What the pairs of each group carry together, in GB/s, while all groups send at once: the
    /// median of several times. 0 (not known) if the time was spent before.
    Result<std::vector<double>> rates_together(std::span<const std::vector<HostPair>> groups);

    /// Null if the pair has not been measured.
    const Cost* find(Signal signal, int a, int b) const;
    /// The smallest cost of any pair, and of any pair with this host; infinite if there is none.
    double best(Signal signal) const { return best_[static_cast<std::size_t>(signal)]; }
    double best_of(Signal signal, int host) const;
    /// How much larger the second smallest figure of a pair is than its smallest: the median over
    /// all pairs, from 1. Where it is large the machine is busy, and less can be told apart.
    double noise(Signal signal) const;

    bool spent() const { return ruler_.spent(); }
    ProbeEffort effort() const { return effort_; }
    int host_count() const { return host_count_; }
    int rounds() const { return rounds_; }  ///< run so far, each repetition counted

  private:
    std::uint64_t key(int a, int b) const;
    std::vector<std::vector<HostPair>> merged(Signal signal, std::span<const Rounds> groups) const;
    bool settled(Signal signal, HostPair pair) const;
    bool is_far(Signal signal, HostPair pair) const;
    void leave_out(std::vector<std::vector<HostPair>>& rounds, Signal signal, bool all_due) const;
    Status run(Signal signal, std::vector<HostPair> pairs, bool reversed);
    void add(Signal signal, HostPair pair, double figure);

    Ruler& ruler_;
    int host_count_;
    ProbeEffort effort_;
    int rounds_ = 0;
    std::array<std::unordered_map<std::uint64_t, Cost>, signal_count> costs_;
    std::array<double, signal_count> best_;
    std::array<std::vector<double>, signal_count> best_of_;
};

}  // namespace gradcoll
