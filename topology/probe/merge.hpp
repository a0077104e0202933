// topology/probe/merge.hpp - the tree of many hosts by latency, in rounds that grow with the
// logarithm of their number.
#pragma once

#include "topology/probe/branches.hpp"
#include "topology/probe/figures.hpp"

namespace gradcoll {

/// Trees of eight hosts each are found by measuring everybody with everybody; then trees are merged
/// two by two, all pairs of trees at the same time. Two trees are merged by measuring hosts of all
/// children of both roots against each other: what is nearer to each other than to the rest belongs
/// together, and where this holds children of both trees, these are merged in the same way. All
/// figures that are compared are thus taken in the same rounds. Answers with the root.
/// Rounds: (degree x depth) for each doubling of the hosts. Latency alone is used, since many pairs
/// at once do not disturb it.
Result<int> merged_by_latency(Branches& branches, Figures& figures);

}  // namespace gradcoll
