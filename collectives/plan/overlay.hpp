// collectives/plan/overlay.hpp - estimates how finely the overlays of a tree cut a vector, and how
// large a rank's plan gets by that, from the shapes alone. The policy uses it to arrange ownership.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// Returns about how many pieces a rank's plan has at most because of cuts, in a vector of so many
/// granules: at each vertex above it, for every interval but one that it owns before, one for each
/// other branch. Branches that are all alike give none, however many they are. Intervals lie
/// between the cuts of all branches; those of equal shapes coincide. An interval is split into one
/// part for each branch, and of two different branches one joins over a cut. Time: linear in the
/// branches of different shapes.
double most_cut_pieces(const Tree& tree, std::int64_t granules);

/// A subtree with so few intervals takes microseconds to look at.
inline constexpr std::int64_t most_overlay_intervals = 8;

/// Returns for OwnershipMap, by shape (index: as Tree::vertex_of_shape()), 1 if an overlay would
/// have more intervals than that. Then all vertices above are dealt, too. Time: as
/// most_cut_pieces().
std::vector<char> dealt_shapes(const Tree& tree);

}  // namespace gradcoll
