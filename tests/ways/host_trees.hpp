// tests/ways/host_trees.hpp - trees of hosts that are not there, one rank each.
#pragma once

#include <string>

#include "topology/tree.hpp"

namespace gradcoll::test {

/// Makes a tree of one host for each rank, all below one vertex. A rate of 0 is not known.
inline Tree hosts(int ranks, VertexKind above, double gbytes_per_s, const char* name = "host ") {
    TreeSpec root;
    root.kind = above;
    for (int rank = 0; rank < ranks; ++rank) {
        TreeSpec leaf;
        leaf.rank = rank;
        leaf.name = name + std::to_string(rank);
        leaf.uplink.bandwidth_gbytes_per_s = gbytes_per_s;
        root.children.push_back(leaf);
    }
    return *Tree::make(root);
}

}  // namespace gradcoll::test
