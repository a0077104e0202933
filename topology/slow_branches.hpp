// topology/slow_branches.hpp - a vertex whose branches have links of different rates, made two.
#pragma once

#include "topology/tree.hpp"

namespace gradcoll {

/// Branches of one vertex exchange equal parts, 2 (d-1) / d of a vector over each one's link: so
/// one slow link of d holds all of them up, with nearly two vectors. Where it pays, the branches
/// with fast links get a vertex of their own below the old one: they exchange first, the slow ones
/// with what comes of it, and a single slow link carries one vector each way, which is the least
/// there is. Done where hosts or switches exchange, where the rates of all their links are known,
/// and where the busiest link then takes less by `slow_branches_least_gain`. The new vertex has the
/// kind of the old one, no name, and a link of what its branches' links carry together. The order
/// of branches in the tree changes with it. Time: linear in vertices, but for sorting.
Tree with_slow_branches_apart(const Tree& tree);
inline constexpr double slow_branches_least_gain = 1.15;

}  // namespace gradcoll
