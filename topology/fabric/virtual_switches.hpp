// topology/fabric/virtual_switches.hpp - which switches are one, because they are redundant ways
// to the same hosts.
#pragma once

#include <vector>

#include "topology/fabric/disjoint_sets.hpp"
#include "topology/fabric/switch_graph.hpp"
#include "topology/fabric/switch_levels.hpp"

namespace gradcoll {

struct VirtualSwitches {
    DisjointSets one;             ///< vertices of the graph that are one switch
    std::vector<bool> leads;      ///< by name of the set: hosts are on it or below it
    std::vector<bool> has_hosts;  ///< by name of the set
    std::vector<int> level;       ///< of each vertex; all vertices of a set have the same
};

/// From the deepest level up: the upper neighbours of a switch are one if none of them has hosts.
/// What leads to no host joins nothing; but in a fabric that is not rooted, such a switch is one
/// with what is above all of its (two or more) neighbours if that is one switch without hosts: a
/// spine that lacks some cables. Complexity: near linear.
VirtualSwitches virtual_switches(const SwitchGraph& graph, const SwitchLevels& levels, bool rooted);

}  // namespace gradcoll
