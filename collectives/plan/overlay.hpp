// collectives/plan/overlay.hpp - how finely the overlays of a tree cut a vector, and what that
// makes of the plan of a rank: estimates from the shapes alone, for those who choose how ownership
// is arranged. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/tree.hpp"

namespace gradcoll {

/// About how many pieces the plan of a rank has because of cuts, at most, in a vector of so many
/// granules: at each vertex above it, for every interval but one that it owns before, one for each
/// other branch. Nothing where all branches are alike, however many they are. Intervals lie between
/// the cuts of all branches; those of equal shapes are the same. An interval is split into a part a
/// branch, and of two different branches one joins over a cut. Time: linear in the branches of
/// different shapes.
double most_cut_pieces(const Tree& tree, std::int64_t granules);

/// Few enough that one look into such a subtree takes microseconds.
inline constexpr std::int64_t most_overlay_intervals = 8;

/// For OwnershipMap, by shape (index: as Tree::vertex_of_shape()): 1 where an overlay would have
/// more intervals than that. Then all vertices above are dealt, too. Time: as above.
std::vector<char> dealt_shapes(const Tree& tree);

}  // namespace gradcoll
