// fabric/virtual_switches.hpp - joins switches that are redundant ways to the same hosts.
#pragma once

#include <vector>

#include "fabric/disjoint_sets.hpp"
#include "fabric/switch_graph.hpp"
#include "fabric/switch_levels.hpp"

namespace gradcoll {

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
