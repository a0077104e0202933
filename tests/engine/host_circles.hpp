// tests/engine/host_circles.hpp - trees of hosts with several ranks each, and who tells whom there.
#pragma once

#include <vector>

#include "engine/circle.hpp"

namespace gradcoll {

/// Returns the tree of hosts at one switch.
inline Tree tree_of_hosts(const std::vector<std::vector<int>>& hosts) {
    TreeSpec root;
    root.kind = VertexKind::fabric_switch;
    for (const std::vector<int>& ranks : hosts) {
        TreeSpec host;
        host.kind = VertexKind::host;
        for (const int rank : ranks) {
            TreeSpec leaf;
            leaf.rank = rank;
            host.children.push_back(leaf);
        }
        root.children.push_back(host);
    }
    return *Tree::make(root);
}

}  // namespace gradcoll
