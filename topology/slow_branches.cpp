#include "topology/derived_trees.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace gradcoll {
namespace {

/// A slow branch's way to the fast ones, beside their own links, takes almost no time.
constexpr double no_latency_us = 0.001;

double rate_of(const TreeSpec& branch) {
    return branch.uplink.bandwidth_gbytes_per_s;
}

/// Returns how often a vector passes each branch's link if `degree` branches exchange, and their
/// result passes `above` times through the link above them.
double passes(std::size_t degree, double above) {
    const auto d = static_cast<double>(degree);
    return (2 * (d - 1) + above) / d;
}

/// Returns how many of the branches, by falling rates, to put together; nothing if it does not pay.
std::optional<std::size_t> fast_branches(const std::vector<double>& rates, double above) {
    const std::size_t degree = rates.size();
    double least = passes(degree, above) / rates.back() / slow_branches_least_gain;
    std::optional<std::size_t> best;
    for (std::size_t fast = 2; fast < degree; ++fast) {
        const double of_slow = passes(degree - fast + 1, above);
        const double time =
            std::max(of_slow / rates.back(), passes(fast, of_slow) / rates[fast - 1]);
        if (time >= least) continue;
        least = time;
        best = fast;
    }
    return best;
}

bool may_be_cut(const TreeSpec& vertex) {
    return connects_hosts(vertex.kind) && vertex.rank < 0 && vertex.children.size() > 2 &&
           std::all_of(vertex.children.begin(), vertex.children.end(),
                       [](const TreeSpec& child) { return rate_of(child) > 0; });
}

/// Returns true if the vertex was split.
bool cut(TreeSpec& vertex, double above) {
    if (!may_be_cut(vertex)) return false;
    std::vector<double> rates;
    for (const TreeSpec& child : vertex.children) rates.push_back(rate_of(child));
    std::sort(rates.rbegin(), rates.rend());
    const std::optional<std::size_t> count = fast_branches(rates, above);
    if (!count) return false;
    TreeSpec fast;
    fast.kind = vertex.kind;
    fast.uplink.latency_us = no_latency_us;
    std::vector<TreeSpec> slow;
    for (TreeSpec& child : vertex.children) {
        // Branches as fast as the slowest chosen one may be too many; the rest of them stay slow.
        const bool is_fast = rate_of(child) >= rates[*count - 1] && fast.children.size() < *count;
        if (is_fast) fast.uplink.bandwidth_gbytes_per_s += rate_of(child);
        (is_fast ? fast.children : slow).push_back(std::move(child));
    }
    vertex.children = std::move(slow);
    vertex.children.insert(vertex.children.begin(), std::move(fast));
    return true;
}

/// Sets slow branches apart at and below the vertex. `above` is how often a vector passes the
/// vertex's own link.
void set_slow_branches_apart(TreeSpec& vertex, double above) {
    while (cut(vertex, above)) {
    }
    const double below = passes(std::max<std::size_t>(vertex.children.size(), 1), above);
    for (TreeSpec& child : vertex.children) set_slow_branches_apart(child, below);
}

}  // namespace

Tree with_slow_branches_apart(const Tree& tree) {
    TreeSpec spec = tree.spec();
    set_slow_branches_apart(spec, 0);
    auto changed = Tree::make(spec);
    return changed ? std::move(changed).value() : tree;
}

}  // namespace gradcoll
