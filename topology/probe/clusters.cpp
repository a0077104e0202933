// topology/probe/clusters.cpp - single linkage (Kruskal over Prim's spanning tree), which keeps
// only sets that stand apart clearly.
#include "topology/probe/clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gradcoll {

namespace {

struct Link {
    double cost = 0;
    int a = 0;
    int b = 0;
};

/// Returns the cheapest links that hold everything together, cheapest first.
std::vector<Link> spanning_links(int count, const CostOf& cost) {
    constexpr double far = std::numeric_limits<double>::infinity();
    std::vector<Link> nearest(static_cast<std::size_t>(count), Link{far, 0, 0});
    std::vector<bool> held(static_cast<std::size_t>(count), false);
    std::vector<Link> links;
    int newest = 0;
    for (int held_count = 1; held_count < count; ++held_count) {
        held[static_cast<std::size_t>(newest)] = true;
        int next = -1;
        for (int i = 0; i < count; ++i) {
            if (held[static_cast<std::size_t>(i)]) continue;
            Link& link = nearest[static_cast<std::size_t>(i)];
            const double to_newest = cost(newest, i);
            if (to_newest < link.cost) link = {to_newest, newest, i};
            if (next < 0 || link.cost < nearest[static_cast<std::size_t>(next)].cost) next = i;
        }
        Link link = nearest[static_cast<std::size_t>(next)];
        link.b = next;
        links.push_back(link);
        newest = next;
    }
    std::stable_sort(links.begin(), links.end(),
                     [](const Link& x, const Link& y) { return x.cost < y.cost; });
    return links;
}

/// Returns infinity if no way out is known.
double cheapest_way_out(const std::vector<int>& set, int count, const CostOf& cost) {
    std::vector<bool> inside(static_cast<std::size_t>(count), false);
    for (const int member : set) inside[static_cast<std::size_t>(member)] = true;
    double cheapest = std::numeric_limits<double>::infinity();
    for (int other = 0; other < count; ++other) {
        if (inside[static_cast<std::size_t>(other)]) continue;
        for (const int member : set) cheapest = std::min(cheapest, cost(member, other));
    }
    return cheapest;
}

bool holds(const std::vector<int>& outer, const std::vector<int>& inner) {
    return outer.size() > inner.size() &&
           std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

}  // namespace

std::vector<std::vector<int>> clusters(int count, const CostOf& cost, double gap) {
    std::vector<std::vector<int>> found;
    std::vector<int> set_of(static_cast<std::size_t>(count));
    std::iota(set_of.begin(), set_of.end(), 0);
    std::vector<std::vector<int>> sets;
    for (int i = 0; i < count; ++i) sets.push_back({i});
    for (const Link& link : spanning_links(count, cost)) {
        auto a = static_cast<std::size_t>(set_of[static_cast<std::size_t>(link.a)]);
        auto b = static_cast<std::size_t>(set_of[static_cast<std::size_t>(link.b)]);
        if (sets[a].size() < sets[b].size()) std::swap(a, b);
        for (const int member : sets[b])
            set_of[static_cast<std::size_t>(member)] = static_cast<int>(a);
        sets[a].insert(sets[a].end(), sets[b].begin(), sets[b].end());
        sets[b].clear();
        if (sets[a].size() == static_cast<std::size_t>(count)) break;
        const double out = cheapest_way_out(sets[a], count, cost);
        if (std::isfinite(out) && out >= gap * link.cost) found.push_back(sets[a]);
    }
    for (auto& set : found) std::sort(set.begin(), set.end());
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& x, const auto& y) { return x.size() < y.size(); });
    return found;
}

std::vector<std::vector<int>> outermost(std::vector<std::vector<int>> sets) {
    std::vector<std::vector<int>> kept;
    for (auto set = sets.rbegin(); set != sets.rend(); ++set)
        if (std::none_of(kept.begin(), kept.end(), [&](const auto& k) { return holds(k, *set); }))
            kept.push_back(*set);
    return kept;
}

std::vector<std::vector<int>> innermost(std::vector<std::vector<int>> sets) {
    std::vector<std::vector<int>> kept;
    for (const auto& set : sets)
        if (std::none_of(kept.begin(), kept.end(), [&](const auto& k) { return holds(set, k); }))
            kept.push_back(set);
    return kept;
}

}  // namespace gradcoll
