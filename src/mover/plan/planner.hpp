// mover/plan/planner.hpp - the plan of a whole step: what moves when on every rank, for the
// smallest slowdown that was found.
#pragma once

#include "base/status.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/count_layers.hpp"
#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

/// Who chooses, among what.
struct Policy {
    MovableKinds kinds;
    Rule rule = Rule::ours;
    std::int64_t count = best_count;  ///< of the rules that count
    static constexpr std::int64_t best_count = -1;
};

struct PlannedStep {
    MovePlan plan;
    std::int64_t counted = 0;  ///< layers or modules, of the rules that count
    Tick unmoved_ticks = 0;    ///< of the step in devices that hold everything
    double slowdown() const {
        return unmoved_ticks == 0
                   ? 0
                   : static_cast<double>(plan.step_ticks) / static_cast<double>(unmoved_ticks) - 1;
    }
};

/// Plans for times without moves, then again for those that come of it, and keeps the shortest
/// step: where operators wait there is more time to move. If they still wait, it is tried to let a
/// quarter, half, three quarters or all of the model states that may move live in the host (of more
/// than 10,000 operators: all), and what rules that count would do. Errors: out_of_memory where no
/// moves make room enough in a device, or a host's pinned memory does not hold what moves.
Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds);

/// The same by any rule. One that counts is carried out as ours is: operators wait for memory only
/// where there is none, and not until a layer that was counted. best_count: all counts are tried.
Result<PlannedStep> plan_by(const Program& program, const Rooms& rooms, const Policy& policy);

}  // namespace gradcoll::mover
