// tests/mover/bundles_test.cpp - tensors that the same operators use are one bundle, and its plan
// is one of the tensors that takes as long and breaks no rule.
#include "mover/plan/bundles.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/planner.hpp"
#include "mover/plan/planner_parts.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

std::int64_t bytes_of(const RankProgram& rank) {
    return std::accumulate(
        rank.tensors.begin(), rank.tensors.end(), std::int64_t{0},
        [](std::int64_t sum, const DeviceTensor& tensor) { return sum + tensor.bytes; });
}

TEST(Bundles, HaveTheTensorsThatTheSameOperatorsUse) {
    RankProgram rank;
    for (int n = 0; n < 4; ++n) rank.operators.push_back({.duration = 10});
    const auto tensor = [](std::int64_t bytes, std::vector<std::int32_t> uses,
                           MemoryKind kind = MemoryKind::activations) {
        return DeviceTensor{.kind = kind, .bytes = bytes, .uses = std::move(uses)};
    };
    rank.tensors = {tensor(100, {0, 3}), tensor(200, {0, 2}), tensor(300, {0, 3}),
                    tensor(9, {0, 3}), tensor(400, {0, 3}, MemoryKind::recomputed)};
    const Program step{{}, {}, {rank}};
    const Bundles bundles(step, 10);
    const auto& found = bundles.program().ranks[0].tensors;
    ASSERT_EQ(4U, found.size());
    EXPECT_EQ(400, found[0].bytes);
    EXPECT_EQ(2, found[0].pieces);
    EXPECT_EQ(200, found[1].bytes);
    EXPECT_EQ(1, found[1].pieces);
    // A move of the bundle becomes two, one after the other; each takes 2 ticks more than its
    // bytes.
    const Rooms rooms{{{1000, {1'000'000'000, 2}}}, {}, {}};
    const MovePlan plan{{{{0, 500, 600, 700}, {{0, 0, 1, 3, {10, 420}, {420, 830}}}, 0}}, 900};
    const auto moves = bundles.unbundled(plan, rooms).ranks[0].moves;
    ASSERT_EQ(2U, moves.size());
    EXPECT_EQ(0, moves[0].tensor);
    EXPECT_EQ(112, moves[0].transfer.end);
    EXPECT_EQ(522, moves[0].prefetch.end);
    EXPECT_EQ(2, moves[1].tensor);
    EXPECT_EQ(112, moves[1].transfer.start);
    EXPECT_EQ(414, moves[1].transfer.end);
    EXPECT_EQ(522, moves[1].prefetch.start);
    EXPECT_EQ(824, moves[1].prefetch.end);
}

TEST(Bundles, TheirPlansAreRightForTheirTensors) {
    int unbundled = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Chance chance(seed);
        const Description description = random_description(chance);
        const auto program = program_of(description);
        ASSERT_TRUE(program.ok()) << program.status().message();
        const std::int64_t peak = peak_of(memory_of(program->ranks[0])).bytes;
        const auto rooms = rooms_of(
            description, *program, std::max<std::int64_t>(1, peak * from_to(chance, 40, 90) / 100));
        ASSERT_TRUE(rooms.ok()) << rooms.status().message();
        const Bundles bundles(*program, 1);
        for (std::size_t r = 0; r < program->ranks.size(); ++r)
            ASSERT_EQ(bytes_of(program->ranks[r]), bytes_of(bundles.program().ranks[r]));
        const auto step = plan_moves(*program, *rooms, {true, false, false, true, 1},
                                     Effort::for_long_steps(30'000));
        if (!step.ok()) continue;
        const Status right = check_plan(*program, *rooms, step->plan);
        ASSERT_TRUE(right.ok()) << "seed " << seed << ": " << right.message();
        for (std::size_t r = 0; r < program->ranks.size(); ++r)
            unbundled +=
                bundles.program().ranks[r].tensors.size() < program->ranks[r].tensors.size() &&
                        !step->plan.ranks[r].moves.empty()
                    ? 1
                    : 0;
    }
    EXPECT_GT(unbundled, 50);
}

}  // namespace
}  // namespace gradcoll::mover
