// topology/derived_trees.hpp - trees that are made of other trees: of one rank on each host, for
// the time after the ranks of each host have combined theirs in another way; and with slow branches
// apart, where a vertex has branches with links of different rates.
#pragma once

#include <span>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// Returns the leaders, ascending, each once. All ranks of a host name the same one of them as
/// their leader, and the leader names itself. `leader_of` is indexed by rank.
std::vector<int> leaders_in(std::span<const int> leader_of);

/// Returns the tree without ranks that are not leaders: rank i is the i-th of leaders_in(). Errors:
/// unsupported if the tree mixes hosts: below some vertex there are ranks of several hosts, and one
/// of those hosts also has ranks elsewhere. Complexity: vertices times hosts below them.
Result<Tree> tree_of_leaders(const Tree& tree, std::span<const int> leader_of);

/// Returns the vertex of `tree` for an inner vertex of its tree_of_leaders(): the lowest one above
/// all of that vertex's leaders.
int vertex_of_leaders(const Tree& tree, const Tree& leaders_tree, std::span<const int> leaders,
                      int vertex);

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
