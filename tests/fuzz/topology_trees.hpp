// fuzz/topology_trees.hpp - what every tree promises (topology/tree.hpp), checked.
#pragma once

#include <string_view>

#include "topology/fabric/fabric.hpp"
#include "topology/tree.hpp"

namespace gradcoll::fuzz {

/// Parents, children, ranks, heights and counts agree; links are figures; the bytes read back.
void must_be_a_tree(const Tree& tree, std::string_view text);

/// The cables join nodes that are there, and a switch tree of it with a rank on every host, and one
/// on a host that is not in it, is a tree. False: the fabric has no such tree (a circle).
bool becomes_a_tree(const Fabric& fabric, std::string_view text);

}  // namespace gradcoll::fuzz
