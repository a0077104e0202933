// mover/plan/planner.hpp - plans a whole step: what moves when on every rank, for the smallest
// slowdown that was found.
#pragma once

#include "base/status.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/count_layers.hpp"
#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

/// A Policy says which rule chooses moves, and among which kinds.
struct Policy {
    MovableKinds kinds;
    Rule rule = Rule::ours;
    std::int64_t count = best_count;  ///< how many to count, for the rules that count
    static constexpr std::int64_t best_count = -1;
};

struct PlannedStep {
    MovePlan plan;
    std::int64_t counted =
        0;                   ///< how many layers or modules were counted, for the rules that count
    Tick unmoved_ticks = 0;  ///< length of the step in devices that hold everything
    double slowdown() const {
        return unmoved_ticks == 0
                   ? 0
                   : static_cast<double>(plan.step_ticks) / static_cast<double>(unmoved_ticks) - 1;
    }
};

/// Plans with the times of a step without moves, then again with the times that result, and keeps
/// the shortest step: where operators wait there is more time to move. If they still wait, it also
/// tries to let a quarter, half, three quarters or all of the model states that may move live in
/// the host (only all, with more than 10,000 operators), and the rules that count. Errors:
/// out_of_memory if no moves make enough room in a device, or a host's pinned memory does not hold
/// what moves.
Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds);

/// Makes a plan by any rule. A rule that counts is carried out as ours is: operators wait for
/// memory only if there is none, not for a layer that was counted. best_count tries all counts.
Result<PlannedStep> plan_by(const Program& program, const Rooms& rooms, const Policy& policy);

}  // namespace gradcoll::mover
