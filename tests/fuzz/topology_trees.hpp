// fuzz/topology_trees.hpp - checks the promises of every tree (topology/tree.hpp).
#pragma once

#include <string_view>

#include "fabric/fabric.hpp"
#include "topology/tree.hpp"

namespace gradcoll::fuzz {

/// Checks that parents, children, ranks, heights and counts agree, links are figures, and the bytes
/// read back.
void must_be_a_tree(const Tree& tree, std::string_view text);

/// Checks that the cables join existing nodes, and that a switch tree of the fabric with a rank on
/// every host, and one on a host that is not in it, is a tree. Returns false if the fabric has no
/// such tree (a circle).
bool becomes_a_tree(const Fabric& fabric, std::string_view text);

}  // namespace gradcoll::fuzz
