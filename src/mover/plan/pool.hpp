// mover/plan/pool.hpp - assigns moved tensors their places in the rank's pinned host memory.
#pragma once

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Gives each move its offset: the lowest multiple of a page at which it fits beside all that is
/// there at the same time; tensors that live in the host lie below all others. Sets pool_bytes.
/// Moves are in the order of their transfers. Complexity: moves times pieces in use.
void lay_out_pool(const RankProgram& rank, RankMoves& moves);

}  // namespace gradcoll::mover
