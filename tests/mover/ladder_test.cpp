// tests/mover/ladder_test.cpp - each choice of a ladder needs no more memory than it was made for,
// and more kinds have all families of fewer.
#include "mover/plan/ladder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mover/analysis/memory.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/plan/planner_parts.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

bool is_ahead(const ChosenMove& move) {
    return move.gap.part == GapPart::head && move.prefetch_at > move.gap.need;
}

/// Sums up what the rank needs while each operator runs, if the moves are as fast as they have to
/// be, and returns the most.
std::int64_t need_of(const RankProgram& rank, const RankChoice& choice) {
    std::vector<std::int64_t> held = held_by_operator(rank);
    for (const ChosenMove& move : choice) {
        const auto add = [&](std::int32_t from, std::int32_t end, std::int64_t bytes) {
            for (std::int32_t op = from; op < end; ++op)
                held[static_cast<std::size_t>(op)] += bytes;
        };
        add(move.gap.after + 1, move.gap.need, -move.gap.bytes);
        if (!move.gap.prefetches()) continue;
        // What comes ahead is back before the step ends, and as the next one begins.
        if (is_ahead(move))
            add(move.prefetch_at, static_cast<std::int32_t>(held.size()), move.gap.bytes);
        add(is_ahead(move) ? 0 : move.prefetch_at, move.gap.need, move.gap.bytes);
    }
    return held.empty() ? 0 : *std::max_element(held.begin(), held.end());
}

TEST(Ladder, EachRungNeedsLessAndItsChoiceNoMoreThanThat) {
    int rungs = 0, ahead = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Chance chance(seed);
        const auto program = program_of(random_description(chance));
        ASSERT_TRUE(program.ok()) << program.status().message();
        const auto starts = timeline_of(*program);
        ASSERT_TRUE(starts.ok());
        const auto families = families_of(*program, {true, true, true, true, 1}, {});
        const ChoiceFamily& family = families[static_cast<std::size_t>(
            from_to(chance, 0, static_cast<std::int64_t>(families.size()) - 1))];
        const RankProgram& rank = program->ranks[0];
        const HeldMemory unmoved(held_by_operator(rank));
        const Ladder ladder(rank, (*starts)[0], unmoved, gaps_of(rank, {1'000'000'000, 0}, family),
                            family.pattern);
        EXPECT_TRUE(std::is_sorted(ladder.needs().rbegin(), ladder.needs().rend()));
        EXPECT_EQ(ladder.least(), ladder.needs().back());
        for (const std::int64_t need : ladder.needs()) {
            ASSERT_EQ(need, ladder.need_within(need));
            const RankChoice choice = ladder.choice_for(need);
            ASSERT_LE(need_of(rank, choice), need) << "seed " << seed;
            for (const ChosenMove& move : choice) {
                if (!move.gap.prefetches()) continue;
                if (is_ahead(move)) {
                    const auto t = static_cast<std::size_t>(move.gap.tensor);
                    ASSERT_GT(move.prefetch_at, rank.tensors[t].uses.back());
                    ++ahead;
                    continue;
                }
                ASSERT_GT(move.prefetch_at, move.gap.after);
                ASSERT_LE(move.prefetch_at, move.gap.need);
                ASSERT_GT(move.prefetch_at, move.gap.in_host);
            }
            ++rungs;
        }
    }
    EXPECT_GT(rungs, 2'000);
    EXPECT_GT(ahead, 10);
}

/// Makes three layers that keep 100 bytes each.
RankProgram three_layers() {
    RankProgram rank;
    for (std::int32_t n = 0; n < 6; ++n) {
        rank.operators.push_back({.kind = n < 3 ? OperatorKind::forward : OperatorKind::backward,
                                  .layer = std::min(n, 5 - n),
                                  .duration = 10});
        if (n < 3)
            rank.tensors.push_back(
                {.layer = n, .micro_batch = 0, .bytes = 100, .uses = {n, 5 - n}});
    }
    return rank;
}

TEST(Ladder, TheLongestGapIsUsedFirstAndItsTensorComesBackWhenThereIsRoom) {
    const RankProgram rank = three_layers();
    const std::vector<Tick> starts = {0, 10, 20, 30, 40, 50};
    const HeldMemory unmoved(held_by_operator(rank));
    const Ladder ladder(rank, starts, unmoved,
                        gaps_of(rank, {1'000'000'000, 0}, {.least_bytes = 1}, {}), {});
    EXPECT_EQ((std::vector<std::int64_t>{300, 200, 100}), ladder.needs());
    // Layer 0's tensor makes room; from operator 4 on layer 2's has gone.
    const RankChoice one = ladder.choice_for(250);
    ASSERT_EQ(1U, one.size());
    EXPECT_EQ(0, one[0].gap.tensor);
    EXPECT_EQ(4, one[0].prefetch_at);
    const RankChoice two = ladder.choice_for(100);
    ASSERT_EQ(2U, two.size());
    EXPECT_EQ(5, two[0].prefetch_at);
    EXPECT_EQ(4, two[1].prefetch_at);
    EXPECT_TRUE(ladder.choice_for(300).empty());
}

bool are_same(const ChoiceFamily& a, const ChoiceFamily& b) {
    const auto kinds = [](const ChoiceFamily& family) {
        const MovableKinds& of = family.kinds;
        return std::tuple(of.activations, of.parameters, of.gradients, of.optimizer);
    };
    const auto rest = [](const ChoiceFamily& family) {
        const Pattern& by = family.pattern;
        return std::tuple(family.at_home, family.leaving, family.shares, by.prefer, by.gone,
                          by.back, by.sizes, by.ahead);
    };
    return kinds(a) == kinds(b) && rest(a) == rest(b);
}

TEST(Families, MoreKindsHaveAllFamiliesOfFewer) {
    const auto kinds = [](unsigned bits) {
        return MovableKinds{(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, (bits & 8U) != 0,
                            1};
    };
    Chance chance(1);
    const auto program = program_of(random_description(chance));
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const Effort& effort : {Effort{}, Effort::for_long_steps(30'000)})
        for (unsigned few = 0; few < 16; ++few)
            for (unsigned many = few; many < 16; ++many) {
                if ((few & many) != few) continue;
                const auto all = families_of(*program, kinds(many), effort);
                for (const ChoiceFamily& family : families_of(*program, kinds(few), effort))
                    EXPECT_TRUE(std::any_of(
                        all.begin(), all.end(),
                        [&](const ChoiceFamily& other) { return are_same(family, other); }))
                        << few << " " << many;
            }
}

}  // namespace
}  // namespace gradcoll::mover
