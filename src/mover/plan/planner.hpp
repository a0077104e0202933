// mover/plan/planner.hpp - plans a whole step: what moves when on every rank, for the smallest
// slowdown that was found; and finds how little device memory a step needs for a given slowdown.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "mover/plan/count_layers.hpp"
#include "mover/plan/gaps.hpp"
#include "mover/program/move_plan.hpp"

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
        0;                    ///< how many layers or modules were counted, for the rules that count
    Tick unmoved_ticks = 0;   ///< length of the step in devices that hold everything
    Tick shortest_ticks = 0;  ///< no plan has a shorter step
    double slowdown() const { return beyond(unmoved_ticks); }
    double beyond_shortest() const { return beyond(shortest_ticks); }

  private:
    double beyond(Tick ticks) const {
        return ticks == 0 ? 0
                          : static_cast<double>(plan.step_ticks) / static_cast<double>(ticks) - 1;
    }
};

/// Tries the choices of all families (planner_parts.hpp) and of the rules that count, and keeps
/// the shortest step. Which choices there are depends on the program alone, a larger device only
/// has more of them, and none takes longer in a larger device or over a faster link: so more kinds,
/// more memory of devices or hosts, and faster links never give a longer step. Errors:
/// out_of_memory if no moves make enough room in a device, or a host's pinned memory does not hold
/// what moves.
Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds);

struct Effort;

/// Plans as plan_moves() does by itself, with another effort (planner_parts.hpp).
Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds, const Effort& effort);

/// Makes a plan by any rule. A rule that counts is carried out as ours is: operators wait for
/// memory only if there is none, not for a layer that was counted. best_count tries all counts.
Result<PlannedStep> plan_by(const Program& program, const Rooms& rooms, const Policy& policy);

struct SmallestMemory {
    double slowdown = 0;            ///< the most that was asked for
    std::int64_t device_bytes = 0;  ///< for every device
    double slowdown_there = 0;
    std::int64_t counted = 0;  ///< PlannedStep::counted
};

/// Returns the smallest memory found for each slowdown, by halving between nothing and the peak
/// without moves, to a 200th of that peak. It assumes that less memory is slower, as is mostly
/// true; where it is not, a smaller one may exist. The rooms' own device_bytes are ignored. After
/// each halving `halved` is told what part of all work is done, 0 to 1.
std::vector<SmallestMemory> smallest_memory(const Program& program, const Rooms& rooms,
                                            const Policy& policy, std::span<const double> slowdowns,
                                            const std::function<void(double)>& halved = {});

}  // namespace gradcoll::mover
