// mover/plan/carry_out.hpp - computes when everything happens if chosen moves are carried out:
// operators wait for memory and for tensors that are not back.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "mover/plan/choose.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Simulates all ranks. A TRANSFER starts when the last use has ended and earlier TRANSFERs have
/// gone; a collective that holds the lane waits for all moves that were let go, and later moves
/// wait for it. A PREFETCH starts when the operator before prefetch_at has ended, earlier PREFETCHs
/// have come, and memory is free. An operator starts when its tensors are there and memory is free
/// for what it makes. Pools are not laid out yet. Errors: internal if memory can never be free,
/// which choose_moves() rules out. Complexity: n log n in operators and moves.
Result<MovePlan> carry_out(const Program& program, const Rooms& rooms,
                           const std::vector<RankChoice>& choices);

}  // namespace gradcoll::mover
