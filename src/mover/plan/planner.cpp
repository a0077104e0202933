// mover/plan/planner.cpp - see planner.hpp.
#include "mover/plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mover/analysis/timeline.hpp"
#include "mover/plan/pool.hpp"

namespace gradcoll::mover {
namespace {

/// Steps change little after the second round.
constexpr int most_rounds = 4;
/// The most counts that are tried for each rule, spread evenly over what it may count.
constexpr std::int64_t most_tries_of_counting = 64;

/// AllHomes holds the homes of each rank.
using AllHomes = std::vector<Homes>;

Result<MovePlan> plan_once(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
                           const AllHomes& homes, const Starts& starts) {
    std::vector<RankChoice> choices;
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
        const RankProgram& rank = program.ranks[r];
        const RankTimes times(rank, starts[r]);
        auto choice = choose_moves(rank, times, gaps_of(rank, rooms.ranks[r].lane, kinds, homes[r]),
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

Status lay_out(const Program& program, const Rooms& rooms, MovePlan& plan) {
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        lay_out_pool(program.ranks[r], plan.ranks[r]);
    return check_hosts(rooms, plan);
}

/// Returns the gaps of all ranks.
std::vector<std::vector<Gap>> all_gaps(const Program& program, const Rooms& rooms,
                                       const MovableKinds& kinds) {
    std::vector<std::vector<Gap>> gaps;
    for (std::size_t r = 0; r < program.ranks.size(); ++r)
        gaps.push_back(gaps_of(program.ranks[r], rooms.ranks[r].lane, kinds));
    return gaps;
}

struct Counts {
    std::int64_t first = 0, last = 0, step = 1;
};

Counts counts_of(const Program& program, Rule rule, std::int64_t most_tries) {
    const std::int64_t most = most_counted(rule, program);
    return {0, most, divided_up(most + 1, most_tries)};
}

/// Returns the plan with the shortest step among those that fit; pools are not laid out. Errors:
/// out_of_memory if none fits.
Result<PlannedStep> best_counted(const Program& program, const Rooms& rooms,
                                 const MovableKinds& kinds, Rule rule, Counts counts) {
    const auto gaps = all_gaps(program, rooms, kinds);
    PlannedStep best;
    best.unmoved_ticks = end_of(program, GRADCOLL_VALUE(timeline_of(program)));
    Status too_small;
    bool found = false;
    for (std::int64_t count = counts.first; count <= counts.last; count += counts.step) {
        std::vector<RankChoice> choices;
        for (std::size_t r = 0; r < program.ranks.size(); ++r)
            choices.push_back(count_layers(rule, program.ranks[r], gaps[r], count));
        auto plan = carry_out(program, rooms, choices);
        if (!plan.ok()) {
            // The rule does not look at memory, so what it moves may leave too little.
            too_small = Status(Code::out_of_memory, plan.status().message());
            continue;
        }
        if (found && plan->step_ticks >= best.plan.step_ticks) continue;
        best.plan = std::move(plan).value();
        best.counted = count;
        found = true;
    }
    if (!found) return too_small;
    return best;
}

Result<PlannedStep> plan_counted(const Program& program, const Rooms& rooms, const Policy& policy) {
    const Counts counts = policy.count == Policy::best_count
                              ? counts_of(program, policy.rule, std::int64_t{1} << 40)
                              : Counts{policy.count, policy.count};
    PlannedStep best =
        GRADCOLL_VALUE(best_counted(program, rooms, policy.kinds, policy.rule, counts));
    GRADCOLL_TRY(lay_out(program, rooms, best.plan));
    return best;
}

/// Tries the rules that count: ours takes one gap after the other, and in a few steps of a thousand
/// counting was better.
void count_as_well(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
                   Result<PlannedStep>& best) {
    if (!kinds.activations) return;
    for (const Rule rule : {Rule::te, Rule::megatron}) {
        auto counted = best_counted(program, rooms, kinds, rule,
                                    counts_of(program, rule, most_tries_of_counting));
        if (!counted.ok()) continue;
        counted->counted = 0;
        if (!best.ok() || counted->plan.step_ticks < best->plan.step_ticks)
            best = std::move(counted);
    }
}

/// Repeats the plan in rounds, until the step gets no shorter.
Result<PlannedStep> plan_by_times(const Program& program, const Rooms& rooms,
                                  const MovableKinds& kinds, const AllHomes& homes, Starts starts) {
    PlannedStep best;
    best.unmoved_ticks = end_of(program, starts);
    for (int n = 0; n < most_rounds; ++n) {
        MovePlan plan = GRADCOLL_VALUE(plan_once(program, rooms, kinds, homes, starts));
        const bool is_better = n == 0 || plan.step_ticks < best.plan.step_ticks;
        starts = starts_of(plan);
        if (is_better) best.plan = std::move(plan);
        if (!is_better || best.plan.step_ticks == best.unmoved_ticks) break;
    }
    return best;
}

/// Returns the first `part` of `parts` of the tensors that may live in the host.
AllHomes homes_of(const Program& program, const MovableKinds& kinds, std::size_t part,
                  std::size_t parts) {
    AllHomes homes;
    for (const RankProgram& rank : program.ranks) {
        Homes& of_rank = homes.emplace_back(may_live_in_host(rank, kinds));
        of_rank.resize((of_rank.size() * part + parts - 1) / parts);
        std::sort(of_rank.begin(), of_rank.end());
    }
    return homes;
}

/// Returns whether each try takes seconds.
bool is_long(const Program& program) {
    constexpr std::size_t many = 10'000;
    std::size_t operators = 0;
    for (const RankProgram& rank : program.ranks) operators += rank.operators.size();
    return operators > many;
}

/// Tries plans in which model states are in the device only while they are used, and keeps the
/// shortest.
void try_homes(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
               const Starts& starts, Result<PlannedStep>& best) {
    const std::size_t parts = is_long(program) ? 1 : 4;
    AllHomes before = homes_of(program, kinds, 0, parts);
    for (std::size_t part = 1; part <= parts; ++part) {
        AllHomes homes = homes_of(program, kinds, part, parts);
        if (homes == before) continue;
        auto step = plan_by_times(program, rooms, kinds, homes, starts);
        if (step.ok() && (!best.ok() || step->plan.step_ticks < best->plan.step_ticks))
            best = std::move(step);
        before = std::move(homes);
    }
}

}  // namespace

Result<PlannedStep> plan_moves(const Program& program, const Rooms& rooms,
                               const MovableKinds& kinds) {
    const Starts starts = GRADCOLL_VALUE(timeline_of(program));
    Result<PlannedStep> best =
        plan_by_times(program, rooms, kinds, homes_of(program, kinds, 0, 1), starts);
    if (!best.ok() && best.status().code() != Code::out_of_memory) return best;
    if (!best.ok() || best->slowdown() > 0) try_homes(program, rooms, kinds, starts, best);
    if (!best.ok() || best->slowdown() > 0) count_as_well(program, rooms, kinds, best);
    if (!best.ok()) return best;
    GRADCOLL_TRY(lay_out(program, rooms, best->plan));
    return best;
}

Result<PlannedStep> plan_by(const Program& program, const Rooms& rooms, const Policy& policy) {
    return policy.rule == Rule::ours ? plan_moves(program, rooms, policy.kinds)
                                     : plan_counted(program, rooms, policy);
}

}  // namespace gradcoll::mover
