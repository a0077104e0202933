// topology/probe/steps.hpp - the steps in which measured_switches() finds a tree: merge (only for
// many hosts), split, uplinks; each has a source file.
#pragma once

#include <vector>

#include "topology/probe/branches.hpp"
#include "topology/probe/figures.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

/// Finds the tree and returns its root. Trees of eight hosts each are found by measuring all their
/// pairs; then trees are merged two by two, all pairs of trees at the same time. Two trees are
/// merged by measuring hosts of all children of both roots against each other: children that are
/// nearer to each other than to the rest belong together, and if they come from both trees, they
/// are merged in the same way. Thus all figures that are compared come from the same rounds.
/// Rounds: (degree x depth) for each doubling of the hosts. Only latency is used, since many pairs
/// at once do not disturb it.
Result<int> merged_by_latency(Branches& branches, Figures& figures);

/// Returns how many times more everything outside a set must cost for the set to be believed: the
/// noisier the figures, the more.
double believed_gap(const Figures& figures, Signal signal);

/// Returns the sets among `hosts` that stand apart, as indices, as clusters() finds them in the
/// figures.
std::vector<std::vector<int>> sets_apart(const Figures& figures, Signal signal,
                                         const std::vector<int>& hosts, double gap);

/// Puts vertices between a vertex and its children if some of these are nearer to each other than
/// to the rest, for every vertex at and below `root`. Vertices of one level are measured at the
/// same time: they have no host in common. Up to eight children of a vertex are measured one pair
/// at a time. Beyond that as many pairs as possible run at once, and a host meets at most 63
/// others; pairs that share a link then look slower than they are, but the nearest pairs share
/// none, so that the innermost sets are believed; then one host of each set takes part in the next
/// step.
Status split(Branches& branches, Figures& figures, Signal signal, int root);

/// Returns the uplink of every node at and below `root`, by node. A branch's bandwidth is what all
/// of its hosts together (64 at most) send to hosts of sibling branches, one branch of every vertex
/// at a time: this shows the whole rate of a link that no single pair fills, as far as the
/// receiving hosts can take it. A host's bandwidth is what its fastest pair carries. Latencies are
/// halves of differences between levels.
Result<std::vector<Uplink>> measured_uplinks(const Branches& branches, Figures& figures, int root,
                                             int node_count);

}  // namespace gradcoll
