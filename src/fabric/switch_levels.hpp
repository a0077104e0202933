// fabric/switch_levels.hpp - finds which switches are on top, and how far below them the others
// are; joins those that are redundant ways to the same hosts.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "fabric/disjoint_sets.hpp"
#include "fabric/switch_graph.hpp"

namespace gradcoll {

/// Deeper fabrics are refused: a tree has max_tree_depth levels, and hosts need some of them.
inline constexpr int max_switch_levels = 512;

/// A part is a set of vertices that cables connect; vertices of parts without hosts have level -1.
struct SwitchLevels {
    std::vector<int> level;  ///< by vertex; 0: on top of its part
    std::vector<int> part;   ///< by vertex, from 0
    int part_count = 0;
};

/// Finds the levels. In a rooted fabric the top is what nothing is above, and a level is the
/// longest way from there. Otherwise the top are the centres of each part, and a level is the
/// shortest way from them. Complexity: linear; for the centres a bounded number of searches through
/// the part. Errors: invalid_argument if the fabric is deeper than max_switch_levels.
Result<SwitchLevels> switch_levels(const SwitchGraph& graph, bool rooted);

struct VirtualSwitches {
    DisjointSets one;             ///< vertices of the graph that are one switch
    std::vector<bool> leads;      ///< by name of the set: whether hosts are on it or below it
    std::vector<bool> has_hosts;  ///< by name of the set
    std::vector<int> level;       ///< by vertex; all vertices of a set have the same
};

/// Joins switches from the deepest level up: the upper neighbours of a switch are joined if none of
/// them has hosts. A switch that leads to no host joins nothing; but in a fabric that is not rooted
/// it is joined with the switch above all of its (two or more) neighbours, if that is one without
/// hosts: it is a spine that lacks some cables. Complexity: near linear.
VirtualSwitches virtual_switches(const SwitchGraph& graph, const SwitchLevels& levels, bool rooted);

}  // namespace gradcoll
