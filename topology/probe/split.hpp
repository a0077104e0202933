// topology/probe/split.hpp - puts vertices between a vertex and its children where some of these
// are nearer to each other than to the rest.
#pragma once

#include <vector>

#include "topology/probe/branches.hpp"
#include "topology/probe/figures.hpp"

namespace gradcoll {

/// A set is believed if everything outside costs this many times more: more where figures are
/// noisy.
double believed_gap(const Figures& figures, Signal signal);

/// The sets among `hosts` that stand apart, as indices, as clusters() finds them in the figures.
std::vector<std::vector<int>> sets_apart(const Figures& figures, Signal signal,
                                         const std::vector<int>& hosts, double gap);

/// Splits every vertex at and below `root`. Vertices of one level are measured at the same time:
/// they have no host in common. Of a vertex with up to eight children one pair at a time is
/// measured. Beyond that as many as possible, and a host meets at most 63 others; pairs that share
/// a link then look slower than they are, but those that are nearest share none, so that the
/// innermost sets are believed; then one host for each of them goes on.
Status split(Branches& branches, Figures& figures, Signal signal, int root);

}  // namespace gradcoll
