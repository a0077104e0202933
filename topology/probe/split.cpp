// topology/probe/split.cpp - measuring among the children of vertices, level by level.
#include "topology/probe/split.hpp"

#include <algorithm>
#include <limits>

#include "topology/probe/clusters.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t few = 8;  ///< children that are measured one pair at a time
constexpr int most_met = 63;    ///< hosts that one host meets at most
/// What is left of the noise after the repetitions, in multiples of what noise() says.
constexpr double noise_margin = 4;

Rounds rounds_for(Signal signal, const std::vector<int>& hosts) {
    if (signal == Signal::bulk && hosts.size() <= few) return one_by_one(hosts);
    return tournament(hosts, most_met);
}

/// One level; answers with the vertices to look at once more.
Result<std::vector<int>> split_all(Branches& branches, Figures& figures, Signal signal,
                                   const std::vector<int>& vertices) {
    std::vector<Rounds> groups;
    for (const int vertex : vertices)
        groups.push_back(rounds_for(signal, branches.host_of_each(branches.children(vertex))));
    GRADCOLL_TRY(figures.ask(signal, groups));
    const double gap = believed_gap(figures, signal);
    std::vector<int> again;
    for (const int vertex : vertices) {
        const std::vector<int> hosts = branches.host_of_each(branches.children(vertex));
        std::vector<std::vector<int>> sets = sets_apart(figures, signal, hosts, gap);
        const bool whole = hosts.size() <= few;
        if (!whole) sets = innermost(std::move(sets));
        branches.group_children(vertex, sets);
        if (whole || sets.empty()) continue;
        figures.forget(signal, hosts);
        again.push_back(vertex);
    }
    return again;
}

}  // namespace

double believed_gap(const Figures& figures, Signal signal) {
    // Two more switches on the way add a fifth or more; rates in use differ by 1.6 or more.
    const double least = signal == Signal::latency ? 0.15 : 0.3;
    return 1 + std::max(least, noise_margin * (figures.noise(signal) - 1));
}

std::vector<std::vector<int>> sets_apart(const Figures& figures, Signal signal,
                                         const std::vector<int>& hosts, double gap) {
    const auto cost = [&](int a, int b) {
        const Cost* found = figures.find(signal, hosts[static_cast<std::size_t>(a)],
                                         hosts[static_cast<std::size_t>(b)]);
        return found == nullptr ? std::numeric_limits<double>::infinity() : found->low;
    };
    return clusters(static_cast<int>(hosts.size()), cost, gap);
}

Status split(Branches& branches, Figures& figures, Signal signal, int root) {
    for (std::vector<int> level : branches.levels(root))
        while (!level.empty() && !figures.spent()) {
            Result<std::vector<int>> again = split_all(branches, figures, signal, level);
            if (!again.ok()) return again.status();
            level = std::move(*again);
        }
    return {};
}

}  // namespace gradcoll
