// topology/probe/steps.hpp - the steps in which measured_switches() finds a tree: merge (many hosts
// alone), split, uplinks; one source each.
#pragma once

#include <vector>

#include "topology/probe/branches.hpp"
#include "topology/probe/figures.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

/// Trees of eight hosts each are found by measuring everybody with everybody; then trees are merged
/// two by two, all pairs of trees at the same time. Two trees are merged by measuring hosts of all
/// children of both roots against each other: what is nearer to each other than to the rest belongs
/// together, and where this holds children of both trees, these are merged in the same way. All
/// figures that are compared are thus taken in the same rounds. Answers with the root.
/// Rounds: (degree x depth) for each doubling of the hosts. Latency alone is used, since many pairs
/// at once do not disturb it.
Result<int> merged_by_latency(Branches& branches, Figures& figures);

/// A set is believed if everything outside costs this many times more: more where figures are
/// noisy.
double believed_gap(const Figures& figures, Signal signal);

/// The sets among `hosts` that stand apart, as indices, as clusters() finds them in the figures.
std::vector<std::vector<int>> sets_apart(const Figures& figures, Signal signal,
                                         const std::vector<int>& hosts, double gap);

/// Puts vertices between a vertex and its children where some of these are nearer to each other
/// than to the rest: of every vertex at and below `root`. Vertices of one level are measured at the
/// same time: they have no host in common. Of a vertex with up to eight children one pair at a time
/// is measured. Beyond that as many as possible, and a host meets at most 63 others; pairs that
/// share a link then look slower than they are, but those that are nearest share none, so that the
/// innermost sets are believed; then one host for each of them goes on.
Status split(Branches& branches, Figures& figures, Signal signal, int root);

/// The uplink of every node at and below `root`, by node. A branch's bandwidth is what all of its
/// hosts together (64 at most) send to hosts of sibling branches, one branch of every vertex at a
/// time: a link that no single pair fills is seen whole, as far as the hosts on the other side can
/// take it. A host's is what its fastest pair carries. Latencies are halves of differences between
/// levels.
Result<std::vector<Uplink>> measured_uplinks(const Branches& branches, Figures& figures, int root,
                                             int node_count);

}  // namespace gradcoll
