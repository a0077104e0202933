// mover/input/tree_cluster.hpp - what a tree of the library says of a cluster, so that moves and
// collectives see the same machine.
#pragma once

#include "mover/input/fields.hpp"
#include "topology/tree.hpp"

namespace gradcoll::mover {

/// Adds to `cluster`, a document in our own form, what it does not say itself and the tree's links
/// do. A rank is a device; a host is the highest vertex that connects no hosts.
/// - devices_per_host: ranks of a host.
/// - tensor_gbytes_per_s: the slowest link from a rank up to its host.
/// - network_gbytes_per_s: of the links above hosts that with the least for each rank below it, if
///   all of them send at once; network_latency_us: from a host up to the root and down again.
/// - devices_per_link, link_gbytes_per_s: ranks below a PCIe bridge, and its link up.
/// Links without figures say nothing. Errors: invalid_argument if hosts, or bridges, have different
/// numbers of ranks; `origin` is the tree's.
Status add_from_tree(const Tree& tree, const std::string& origin, Document& cluster);

}  // namespace gradcoll::mover
