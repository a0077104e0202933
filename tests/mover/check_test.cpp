// tests/mover/check_test.cpp - the checker refuses what is wrong, and says what is wrong.
#include <gtest/gtest.h>

#include <map>

#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"
#include "mover/mutations.hpp"
#include "mover/plan/planner.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

struct Planned {
    Program program;
    Rooms rooms;
    MovePlan plan;
};

/// Returns a right plan that moves something, from the next seed that gives one.
Planned next_plan(std::uint64_t& seed) {
    for (;; ++seed) {
        Chance chance(seed);
        const Description description = random_description(chance);
        Planned out;
        out.program = *program_of(description);
        std::int64_t peak = 1;
        for (const RankProgram& rank : out.program.ranks)
            peak = std::max(peak, peak_of(memory_of(rank)).bytes);
        out.rooms = *rooms_of(description, out.program,
                              std::max<std::int64_t>(1, peak * from_to(chance, 40, 95) / 100));
        auto step = plan_moves(out.program, out.rooms, {true, true, true, true, 1});
        if (!step.ok()) continue;
        out.plan = std::move(step->plan);
        ++seed;
        return out;
    }
}

TEST(Check, FortyThousandPlansWithOneChangeAreRefused) {
    std::map<std::string_view, int> refused;
    int count = 0;
    for (std::uint64_t seed = 0; count < cases(40'000);) {
        const Planned planned = next_plan(seed);
        const Subject subject{planned.program, planned.rooms, planned.plan};
        ASSERT_TRUE(check_plan(planned.program, planned.rooms, planned.plan).ok());
        Chance chance(seed);
        for (std::size_t n = 0; n < 8 * mutations().size(); ++n) {
            const Mutation& mutation = mutations()[n % mutations().size()];
            MovePlan changed = planned.plan;
            if (!mutation.mutate(subject, chance, changed)) continue;
            const Status status = check_plan(planned.program, planned.rooms, changed);
            ASSERT_FALSE(status.ok()) << mutation.name << ", seed before " << seed;
            ASSERT_FALSE(status.message().empty());
            ++refused[mutation.name];
            ++count;
        }
    }
    for (const Mutation& mutation : mutations())
        EXPECT_GT(refused[mutation.name], cases(50)) << mutation.name;
}

TEST(Check, EveryPrefetchOneTickLaterThanItsSlackIsRefused) {
    int count = 0;
    for (std::uint64_t seed = 0; count < cases(10'000);) {
        const Planned planned = next_plan(seed);
        for (std::size_t r = 0; r < planned.plan.ranks.size(); ++r)
            for (std::size_t m = 0; m < planned.plan.ranks[r].moves.size(); ++m, ++count) {
                MovePlan changed = planned.plan;
                delay_prefetch(planned.plan, r, m, changed);
                ASSERT_FALSE(check_plan(planned.program, planned.rooms, changed).ok())
                    << "rank " << r << ", move " << m << ", seed before " << seed;
            }
    }
}

/// Makes two forward and two backward operators of 10 ticks; tensor 0 of 1000 bytes lives from the
/// first to the last, tensor 1 in between.
Planned small_plan() {
    Planned out;
    out.program.layer_names = {"a", "b"};
    out.program.tensor_names = {"x"};
    RankProgram rank;
    for (int n = 0; n < 4; ++n)
        rank.operators.push_back({.kind = n < 2 ? OperatorKind::forward : OperatorKind::backward,
                                  .layer = n == 1 || n == 2 ? 1 : 0,
                                  .duration = 10});
    rank.tensors.push_back({.layer = 0, .micro_batch = 0, .bytes = 1000, .uses = {0, 3}});
    rank.tensors.push_back({.layer = 1, .micro_batch = 0, .bytes = 500, .uses = {1, 2}});
    out.program.ranks = {rank};
    // At 200 bytes a tick the bytes take 5 ticks, and one more to arrive.
    out.rooms.ranks = {{1500, {200 * ticks_per_second, 1}}};
    out.rooms.rates = {{200 * ticks_per_second, false, {{0, 1}}}};
    out.rooms.hosts = {{1000, false, {{0, 1}}}};
    RankMoves moves;
    moves.starts = {0, 10, 20, 30};
    moves.moves = {{0, 0, 2, 3, {10, 16}, {24, 30}, 0}};
    moves.pool_bytes = 1000;
    out.plan = {{moves}, 40};
    return out;
}

std::string verdict(const Planned& planned) {
    return check_plan(planned.program, planned.rooms, planned.plan).message();
}

TEST(Check, SaysWhatIsWrong) {
    EXPECT_EQ("", verdict(small_plan()));

    Planned late = small_plan();
    late.plan.ranks[0].moves[0].prefetch = {25, 31};
    EXPECT_EQ("rank 0: a x, micro-batch 0 is back at 31, operator 3 needs it at 30", verdict(late));

    Planned tight = small_plan();
    tight.rooms.ranks[0].device_bytes = 1499;
    EXPECT_EQ("rank 0: 1500 bytes in the device at 10, 1499 are allowed", verdict(tight));

    Planned fast = small_plan();
    fast.plan.ranks[0].moves[0].transfer = {10, 15};
    EXPECT_EQ("rank 0: a x, micro-batch 0: 1000 bytes in 5 ticks, they take 6", verdict(fast));

    Planned crowded = small_plan();
    crowded.rooms.rates[0].most -= 1;
    EXPECT_EQ("moves at 10 go at 200000000000 bytes a second over a way of 199999999999",
              verdict(crowded));

    Planned poor = small_plan();
    poor.rooms.hosts[0].most = 999;
    EXPECT_EQ("the pools of a host with devices of rank 0 take 1000 bytes, it has 999",
              verdict(poor));
}

TEST(Check, MemoryIsFreeOnlyWhenTheTransferHasEnded) {
    Planned planned = small_plan();
    planned.rooms.ranks[0].device_bytes = 1000;
    // Operator 1 makes 500 bytes at 10, and 1000 are in the device until 16.
    EXPECT_EQ("rank 0: 1500 bytes in the device at 10, 1000 are allowed", verdict(planned));
    planned.plan.ranks[0].starts = {0, 16, 26, 42};
    planned.plan.ranks[0].moves[0].prefetch = {36, 42};
    planned.plan.ranks[0].moves[0].prefetch_at = 3;
    planned.plan.step_ticks = 52;
    EXPECT_EQ("", verdict(planned));
    planned.plan.ranks[0].moves[0].prefetch = {35, 41};
    planned.plan.ranks[0].moves[0].prefetch_at = 2;
    EXPECT_EQ("rank 0: 1500 bytes in the device at 35, 1000 are allowed", verdict(planned));
}

TEST(Check, BothDirectionsCountTogetherWhereALinkCarriesOneAtATime) {
    Planned planned = small_plan();
    // A second tensor that comes back while the first one leaves would need another rank; here the
    // rank's own two directions meet.
    planned.program.ranks[0].tensors.push_back(
        {.kind = MemoryKind::optimizer, .stays = true, .layer = 0, .bytes = 200, .uses = {2}});
    planned.plan.ranks[0].moves.insert(planned.plan.ranks[0].moves.begin(),
                                       {2, -1, 1, 2, {0, 2}, {12, 14}, 1000});
    planned.plan.ranks[0].pool_bytes = 1200;
    planned.rooms.hosts[0].most = 1200;
    planned.rooms.ranks[0].device_bytes = 2000;
    EXPECT_EQ("", verdict(planned));
    planned.rooms.rates[0].directions_together = true;
    EXPECT_EQ("moves at 12 go at 400000000000 bytes a second over a way of 200000000000",
              verdict(planned));
}

}  // namespace
}  // namespace gradcoll::mover
