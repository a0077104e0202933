// fabric/switch_levels.hpp - finds which switches are on top, and how far below them the
// others are.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "fabric/switch_graph.hpp"

namespace gradcoll {

/// Deeper fabrics are refused: a tree has max_tree_depth levels, and hosts need some of them.
inline constexpr int max_switch_levels = 512;

/// A part is a set of vertices that cables connect; vertices of parts without hosts have level -1.
struct SwitchLevels {
    std::vector<int> level;  ///< by vertex; 0: on top of its part
    std::vector<int> part;   ///< by vertex, from 0
    int part_count = 0;
};

/// Finds the levels. In a rooted fabric the top is what nothing is above, and a level is the
/// longest way from there. Otherwise the top are the centres of each part, and a level is the
/// shortest way from them. Complexity: linear; for the centres a bounded number of searches through
/// the part. Errors: invalid_argument if the fabric is deeper than max_switch_levels.
Result<SwitchLevels> switch_levels(const SwitchGraph& graph, bool rooted);

}  // namespace gradcoll
