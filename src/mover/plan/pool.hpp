// mover/plan/pool.hpp - assigns moved tensors their places in the rank's pinned host memory.
#pragma once

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Returns what a tensor takes in the pool: whole pages.
std::int64_t bytes_in_pool(std::int64_t bytes);

/// Gives each move its offset: the lowest multiple of a page at which it fits beside all that may
/// be there at the same time, from the operator that used it to the one that needs it next; tensors
/// that live in the host lie below all others. Sets pool_bytes, which so does not depend on times.
/// Moves are in the order of their transfers. Complexity: moves times pieces in use.
void lay_out_pool(const RankProgram& rank, RankMoves& moves);

}  // namespace gradcoll::mover
