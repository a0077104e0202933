// topology/probe/uplinks.hpp - what the links of a found tree carry.
#pragma once

#include <vector>

#include "topology/probe/branches.hpp"
#include "topology/probe/figures.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

/// The uplink of every node at and below `root`, by node. A branch's bandwidth is what all of its
/// hosts together (64 at most) send to hosts of sibling branches, one branch of every vertex at a
/// time: a link that no single pair fills is seen whole, as far as the hosts on the other side can
/// take it. A host's is what its fastest pair carries. Latencies are halves of differences between
/// levels.
Result<std::vector<Uplink>> measured_uplinks(const Branches& branches, Figures& figures, int root,
                                             int node_count);

}  // namespace gradcoll
