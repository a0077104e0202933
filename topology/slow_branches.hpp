// topology/slow_branches.hpp - splits a vertex whose branches have links of different rates.
#pragma once

#include "topology/tree.hpp"

namespace gradcoll {

/// Returns the tree with slow branches apart. The d branches of a vertex exchange equal parts, each
/// 2 (d-1) / d of a vector over its own link, so one slow link delays all of them by nearly two
/// vectors. Where it pays, the branches with fast links get a vertex of their own below the old
/// one: they exchange first, and the slow ones join with their result, so that a single slow link
/// carries one vector each way, the least possible. This is done where hosts or switches exchange,
/// the rates of all their links are known, and the busiest link then takes less time by
/// `slow_branches_least_gain`. The new vertex has the kind of the old one, no name, and a link with
/// the sum of its branches' rates. The order of branches in the tree changes. Complexity: linear in
/// vertices, plus sorting.
Tree with_slow_branches_apart(const Tree& tree);
inline constexpr double slow_branches_least_gain = 1.15;

}  // namespace gradcoll
