// mover/input/tree_cluster.hpp - takes from a tree of the library what it says of a cluster, so
// that moves and collectives see the same machine.
#pragma once

#include "mover/input/fields.hpp"
#include "topology/tree.hpp"

namespace gradcoll::mover {

/// Adds to `cluster`, a document in our own form, what it does not say itself and the tree's links
/// do. A rank is a device; a host is the highest vertex that connects no hosts. These keys are
/// added:
/// - devices_per_host: ranks of a host.
/// - tensor_gbytes_per_s: the slowest link from a rank up to its host.
/// - network_gbytes_per_s: the rate of the links above hosts that have the least for each rank
///   below them if all of them send at once; network_latency_us: from a host to the root and back.
/// - devices_per_link, link_gbytes_per_s: ranks below a PCIe bridge, and its link up.
/// Links without figures add nothing. Errors: invalid_argument if hosts, or bridges, have different
/// numbers of ranks; `origin` is the tree's.
Status add_from_tree(const Tree& tree, const std::string& origin, Document& cluster);

}  // namespace gradcoll::mover
