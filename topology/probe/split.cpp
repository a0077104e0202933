// topology/probe/split.cpp - measures among the children of vertices, level by level.
#include "topology/probe/steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "topology/probe/clusters.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t few = 8;  ///< up to so many children are measured one pair at a time
constexpr int most_met = 63;    ///< a host meets at most so many others
/// The repetitions leave this much noise, in multiples of noise().
constexpr double noise_margin = 3;

/// Returns whether to measure one pair at a time. Many pairs at a time cost less time; where they
/// share a link they look slower, which shows links that are narrow for a whole branch, but not for
/// one pair.
bool one_pair_at_a_time(const Figures& figures, Signal signal, const std::vector<int>& hosts) {
    return signal == Signal::bulk && hosts.size() <= few &&
           figures.effort() == ProbeEffort::thorough;
}

Rounds rounds_for(const Figures& figures, Signal signal, const std::vector<int>& hosts) {
    if (one_pair_at_a_time(figures, signal, hosts)) return one_by_one(hosts);
    return tournament(hosts, most_met);
}

/// Returns whether a look shows all sets; otherwise it shows only the innermost.
bool shows_whole(const Figures& figures, Signal signal, const std::vector<int>& hosts) {
    if (signal == Signal::latency) return hosts.size() <= few;
    return one_pair_at_a_time(figures, signal, hosts);
}

using Sets = std::vector<std::vector<int>>;

/// Returns how often a set must be found before it is believed: latencies of a busy machine can be
/// consistent for a while and still say nothing of the network.
int looks_of(Signal signal) {
    return signal == Signal::latency ? 3 : 1;
}

/// Returns the sets that stand apart in each group of hosts, in every one of several looks that
/// each measure anew.
Result<std::vector<Sets>> sets_of(Figures& figures, Signal signal,
                                  const std::vector<std::vector<int>>& groups) {
    std::vector<Sets> kept(groups.size());
    for (int look = 0; look < looks_of(signal); ++look) {
        std::vector<Rounds> rounds;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (look > 0 && kept[g].empty()) continue;
            if (look > 0) figures.forget(signal, groups[g]);
            rounds.push_back(rounds_for(figures, signal, groups[g]));
        }
        GRADCOLL_TRY(figures.ask(signal, rounds));
        const double gap = believed_gap(figures, signal);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const Sets found = sets_apart(figures, signal, groups[g], gap);
            if (look == 0) kept[g] = found;
            std::erase_if(kept[g], [&](const auto& set) {
                return std::find(found.begin(), found.end(), set) == found.end();
            });
        }
    }
    return kept;
}

/// Splits one level, and returns the vertices to look at once more.
Result<std::vector<int>> split_all(Branches& branches, Figures& figures, Signal signal,
                                   std::vector<int> vertices) {
    if (figures.effort() == ProbeEffort::quick)  // of two children none stands apart
        std::erase_if(vertices, [&](int v) { return branches.children(v).size() < 3; });
    std::vector<std::vector<int>> groups;
    for (const int vertex : vertices)
        groups.push_back(branches.host_of_each(branches.children(vertex)));
    std::vector<Sets> sets = GRADCOLL_VALUE(sets_of(figures, signal, groups));
    std::vector<int> again;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const bool whole = shows_whole(figures, signal, groups[g]);
        const Sets chosen = whole ? sets[g] : innermost(sets[g]);
        branches.group_children(vertices[g], chosen);
        if (whole || chosen.empty()) continue;
        figures.forget(signal, groups[g]);
        again.push_back(vertices[g]);
    }
    return again;
}

}  // namespace

double believed_gap(const Figures& figures, Signal signal) {
    // Two more switches on the way add a fifth or more; rates in use differ by 1.6 or more.
    const double least = signal == Signal::latency ? 0.15 : 0.3;
    return 1 + std::max(least, noise_margin * (figures.noise(signal) - 1));
}

/// Returns the second smallest bulk figure, since one long message may find empty queues and be too
/// fast; else the smallest. A far pair has been seen only once.
static double seen_twice(Signal signal, const Cost& cost) {
    return signal == Signal::bulk && std::isfinite(cost.second) ? cost.second : cost.low;
}

std::vector<std::vector<int>> sets_apart(const Figures& figures, Signal signal,
                                         const std::vector<int>& hosts, double gap) {
    const auto cost = [&](int a, int b) {
        const Cost* found = figures.find(signal, hosts[static_cast<std::size_t>(a)],
                                         hosts[static_cast<std::size_t>(b)]);
        return found == nullptr ? std::numeric_limits<double>::infinity()
                                : seen_twice(signal, *found);
    };
    return clusters(static_cast<int>(hosts.size()), cost, gap);
}

Status split(Branches& branches, Figures& figures, Signal signal, int root) {
    for (std::vector<int> level : branches.levels(root))
        while (!level.empty() && !figures.spent()) {
            level = GRADCOLL_VALUE(split_all(branches, figures, signal, std::move(level)));
        }
    return {};
}

}  // namespace gradcoll
