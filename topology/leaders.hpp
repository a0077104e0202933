// topology/leaders.hpp - the tree of one rank a host: what is left to do when the ranks of each
// host have combined theirs in another way.
#pragma once

#include <span>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// One host's ranks name the same of them as their leader, which names itself. Ascending, once
/// each. `leader_of`: by rank.
std::vector<int> leaders_in(std::span<const int> leader_of);

/// The tree without ranks that are no leaders: rank i is the i-th of leaders_in(). Errors:
/// unsupported if the tree mixes hosts: below some vertex there are ranks of several hosts, of
/// which one has ranks elsewhere, too. Complexity: vertices times hosts below them.
Result<Tree> tree_of_leaders(const Tree& tree, std::span<const int> leader_of);

/// The vertex of `tree` that a vertex of its tree_of_leaders() stands for: the lowest one above
/// all of its leaders. Inner vertices alone.
int vertex_of_leaders(const Tree& tree, const Tree& leaders_tree, std::span<const int> leaders,
                      int vertex);

}  // namespace gradcoll
