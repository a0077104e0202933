// mover/plan/pool.hpp - where moved tensors lie in the rank's pinned host memory.
#pragma once

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Gives each move its offset: the lowest where it fits beside all that is there at the same time,
/// at multiples of a page; those that live in the host lie below all others. Sets pool_bytes. The
/// moves stand in the order of their transfers. Complexity: moves times pieces in use.
void lay_out_pool(const RankProgram& rank, RankMoves& moves);

}  // namespace gradcoll::mover
