// tests/mover/planner_test.cpp - the checker, which does not know how plans are made, accepts the
// plans of random models.
#include <gtest/gtest.h>

#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"
#include "mover/plan/planner.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

MovableKinds all_kinds(Chance& chance) {
    return {true, from_to(chance, 0, 1) == 1, from_to(chance, 0, 1) == 1,
            from_to(chance, 0, 1) == 1, 1};
}

TEST(Planner, PlansOfTenThousandModelsByChanceAreRight) {
    int planned = 0, moved = 0, waited = 0, free = 0;
    for (std::uint64_t seed = 0; planned < 10'000; ++seed) {
        ASSERT_LT(seed, 40'000U) << "too many caps cannot be held";
        Chance chance(seed);
        const Description description = random_description(chance);
        const auto program = program_of(description);
        ASSERT_TRUE(program.ok()) << program.status().message();
        std::int64_t peak = 1;
        for (const RankProgram& rank : program->ranks)
            peak = std::max(peak, peak_of(memory_of(rank)).bytes);
        const std::int64_t cap = std::max<std::int64_t>(1, peak * from_to(chance, 30, 100) / 100);
        const auto rooms = rooms_of(description, *program, cap);
        ASSERT_TRUE(rooms.ok()) << rooms.status().message();
        const auto step = plan_moves(*program, *rooms, all_kinds(chance));
        if (!step.ok()) {
            ASSERT_EQ(Code::out_of_memory, step.status().code())
                << seed << ": " << step.status().message();
            continue;
        }
        ++planned;
        const Status right = check_plan(*program, *rooms, step->plan);
        ASSERT_TRUE(right.ok()) << "seed " << seed << ": " << right.message();
        std::size_t moves = 0;
        for (const RankMoves& rank : step->plan.ranks) moves += rank.moves.size();
        moved += moves > 0 ? 1 : 0;
        waited += step->slowdown() > 0 ? 1 : 0;
        free += moves > 0 && step->slowdown() == 0 ? 1 : 0;
    }
    // The models are of all kinds.
    EXPECT_GT(moved, 2000);
    EXPECT_GT(waited, 500);
    EXPECT_GT(free, 500);
    RecordProperty("moved", moved);
    RecordProperty("waited", waited);
    RecordProperty("free", free);
}

}  // namespace
}  // namespace gradcoll::mover
