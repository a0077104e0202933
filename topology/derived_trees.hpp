// topology/leaders.hpp - the tree of one rank on each host, for the time after the ranks of each
// host have combined theirs in another way.
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

}  // namespace gradcoll
