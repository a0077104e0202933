// mover/plan/carry_out.hpp - when everything happens, if chosen moves are carried out: operators
// wait for memory and for what is not back.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "mover/plan/choose.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Follows all ranks. A TRANSFER starts when the last use has ended and those before it have gone;
/// a collective that holds the lane waits for all moves that were let go, and others wait for it.
/// A PREFETCH starts when the operator before prefetch_at has ended, those before it have come, and
/// memory is free. An operator starts when its tensors are there and memory is free for what it
/// makes. Pools are not laid out yet. Errors: internal if memory can never be free, which
/// choose_moves() rules out. Complexity: n log n in operators and moves.
Result<MovePlan> carry_out(const Program& program, const Rooms& rooms,
                           const std::vector<RankChoice>& choices);

}  // namespace gradcoll::mover
