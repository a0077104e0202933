// mover/plan/planner.cpp - see planner.hpp.
#include "mover/plan/planner.hpp"

#include <fmt/format.h>

#include "mover/analysis/timeline.hpp"
#include "mover/plan/pool.hpp"

namespace gradcoll::mover {
namespace {

constexpr int rounds = 4;

struct Round {
    MovePlan plan;
    bool waits = false;
};

Result<Round> plan_once(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
                        const Starts& starts) {
    Round round;
    std::vector<RankChoice> choices;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        const RankTimes times(rank, starts[r]);
        auto choice = choose_moves(rank, times, gaps_of(rank, rooms.ranks[r].lane, kinds),
                                   rooms.ranks[r].device_bytes);
        if (!choice.ok())
            return Status(choice.status().code(),
                          fmt::format("rank {}: {}", r, choice.status().message()));
        round.waits |= choice->waits;
        choices.push_back(std::move(choice).value());
    }
    round.plan = GRADCOLL_VALUE(carry_out(program, rooms, choices));
    return round;
}

Starts starts_of(const MovePlan& plan) {
    Starts starts;
    for (const RankMoves& rank : plan.ranks) starts.push_back(rank.starts);
    return starts;
}

Status check_hosts(const Rooms& rooms, const MovePlan& plan) {
    for (const Sharing& host : rooms.hosts) {
        std::int64_t pinned = 0;
        for (const auto& [rank, devices] : host.devices)
            pinned += devices * plan.ranks[static_cast<std::size_t>(rank)].pool_bytes;
        if (pinned > host.most)
            return {Code::out_of_memory,
                    fmt::format("host_memory: what moves takes {} bytes of a host, it has {}",
                                pinned, host.most)};
    }
    return {};
}

}  // namespace

Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds) {
    Starts starts = GRADCOLL_VALUE(timeline_of(program));
    PlannedStep best;
    best.unmoved_ticks = end_of(program, starts);
    for (int n = 0; n < rounds; ++n) {
        Round round = GRADCOLL_VALUE(plan_once(program, rooms, kinds, starts));
        starts = starts_of(round.plan);
        if (n == 0 || round.plan.step_ticks < best.plan.step_ticks)
            best.plan = std::move(round.plan);
        if (best.plan.step_ticks == best.unmoved_ticks) break;
    }
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        lay_out_pool(program.ranks[r], best.plan.ranks[r]);
    GRADCOLL_TRY(check_hosts(rooms, best.plan));
    return best;
}

}  // namespace gradcoll::mover
