// mover/plan/planner.hpp - the plan of a whole step: what moves when on every rank, for the
// smallest slowdown that was found.
#pragma once

#include "base/status.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

struct PlannedStep {
    MovePlan plan;
    Tick unmoved_ticks = 0;  ///< of the step in devices that hold everything
    double slowdown() const {
        return unmoved_ticks == 0
                   ? 0
                   : static_cast<double>(plan.step_ticks) / static_cast<double>(unmoved_ticks) - 1;
    }
};

/// Plans for times without moves, then again for those that come of it, and keeps the shortest
/// step: where operators wait there is more time to move. Errors: out_of_memory where no moves make
/// room enough in a device, or a host's pinned memory does not hold what moves.
Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds);

}  // namespace gradcoll::mover
