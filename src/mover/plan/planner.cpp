// mover/plan/planner.cpp - see planner.hpp.
#include "mover/plan/planner.hpp"

#include <fmt/format.h>

#include "mover/analysis/timeline.hpp"
#include "mover/plan/pool.hpp"

namespace gradcoll::mover {
namespace {

/// Steps change little after the second.
constexpr int most_rounds = 4;

Result<MovePlan> plan_once(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
                           const Starts& starts) {
    std::vector<RankChoice> choices;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        const RankTimes times(rank, starts[r]);
        auto choice = choose_moves(rank, times, gaps_of(rank, rooms.ranks[r].lane, kinds),
                                   rooms.ranks[r].device_bytes);
        if (!choice.ok())
            return Status(choice.status().code(),
                          fmt::format("rank {}: {}", r, choice.status().message()));
        choices.push_back(std::move(choice).value());
    }
    return carry_out(program, rooms, choices);
}

Starts starts_of(const MovePlan& plan) {
    Starts starts;
    for (const RankMoves& rank : plan.ranks) starts.push_back(rank.starts);
    return starts;
}

Status check_hosts(const Rooms& rooms, const MovePlan& plan) {
    for (const Sharing& host : rooms.hosts)
        if (const std::int64_t pinned = pinned_in(host, plan); pinned > host.most)
            return {Code::out_of_memory,
                    fmt::format("host_memory: what moves takes {} bytes of a host, it has {}",
                                pinned, host.most)};
    return {};
}

}  // namespace

Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds) {
    Starts starts = GRADCOLL_VALUE(timeline_of(program));
    PlannedStep best;
    best.unmoved_ticks = end_of(program, starts);
    for (int n = 0; n < most_rounds; ++n) {
        MovePlan plan = GRADCOLL_VALUE(plan_once(program, rooms, kinds, starts));
        const bool is_better = n == 0 || plan.step_ticks < best.plan.step_ticks;
        starts = starts_of(plan);
        if (is_better) best.plan = std::move(plan);
        if (!is_better || best.plan.step_ticks == best.unmoved_ticks) break;
    }
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        lay_out_pool(program.ranks[r], best.plan.ranks[r]);
    GRADCOLL_TRY(check_hosts(rooms, best.plan));
    return best;
}

}  // namespace gradcoll::mover
