// topology/fabric/switch_levels.hpp - which switches are on top, and how far below it the others
// are.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "topology/fabric/switch_graph.hpp"

namespace gradcoll {

/// Deeper fabrics are refused: a tree has max_tree_depth levels, and hosts need some of them.
inline constexpr int max_switch_levels = 512;

/// Parts are what cables connect; vertices outside of any part with hosts have level -1.
struct SwitchLevels {
    std::vector<int> level;  ///< of each vertex; 0: on top of its part
    std::vector<int> part;   ///< of each vertex, from 0
    int part_count = 0;
};

/// Rooted: on top is what nothing is above; a level is the longest way from there. Otherwise on top
/// are the centres of each part, a level is the shortest way from them. Complexity: linear; for
/// the centres a bounded number of searches through the part. Errors: invalid_argument if the
/// fabric is deeper than max_switch_levels.
Result<SwitchLevels> switch_levels(const SwitchGraph& graph, bool rooted);

}  // namespace gradcoll
