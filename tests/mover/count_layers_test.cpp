// tests/mover/count_layers_test.cpp - what rules that count layers move, and that the planner needs
// no more memory than they do.
#include <gtest/gtest.h>

#include <array>

#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"
#include "mover/plan/planner.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

/// Makes layers of one part and one tensor each, on one rank. Forward of layer l, micro-batch 0 is
/// operator l, its backward operator 2 * layers - 1 - l.
RankProgram row_of_layers(std::int64_t layers) {
    Description description;
    std::vector<ListedLayer> listed;
    for (std::int64_t l = 0; l < layers; ++l)
        listed.push_back({.name = "l" + std::to_string(l),
                          .kept = {{"out", 100}},
                          .times = {.forward_us = 10, .backward_us = 20}});
    description.model = {"row", std::move(listed)};
    description.cluster.device_tflops = description.cluster.device_memory_gbytes_per_s = 1;
    description.cluster.network_gbytes_per_s = 1;
    const auto program = program_of(description);
    EXPECT_TRUE(program.ok()) << program.status().message();
    return program.ok() ? program->ranks.front() : RankProgram{};
}

std::vector<std::array<std::int32_t, 3>> moves_by(Rule rule, std::int64_t count) {
    const RankProgram rank = row_of_layers(6);
    const auto gaps = gaps_of(rank, {1'000'000'000, 0}, {.least_bytes = 1});
    std::vector<std::array<std::int32_t, 3>> out;
    for (const ChosenMove& move : count_layers(rule, rank, gaps, count))
        out.push_back({move.gap.after, move.prefetch_at, move.gap.need});
    return out;
}

TEST(CountLayers, TeFetchesALayerWhenAsManyAreDoneAsStayed) {
    // Two of six move: layer 0 comes back from the end of layer 4's backward (operator 7) on, which
    // is when layer 3's begins; layer 1 comes one layer earlier.
    EXPECT_EQ((std::vector<std::array<std::int32_t, 3>>{{0, 8, 11}, {1, 7, 10}}),
              moves_by(Rule::te, 2));
    EXPECT_TRUE(moves_by(Rule::te, 0).empty());
    // One layer always stays. Its neighbour is fetched where it is needed.
    const auto most = moves_by(Rule::te, 6);
    ASSERT_EQ(5U, most.size());
    EXPECT_EQ((std::array<std::int32_t, 3>{4, 7, 7}), most.back());
}

TEST(CountLayers, MegatronFetchesAModuleWhileTheOneBeforeIsAtWork) {
    EXPECT_EQ((std::vector<std::array<std::int32_t, 3>>{{0, 10, 11}, {1, 9, 10}, {2, 8, 9}}),
              moves_by(Rule::megatron, 3));
    // The last layer has no gap: its backward follows at once.
    EXPECT_EQ(5U, moves_by(Rule::megatron, 6).size());
}

TEST(CountLayers, TorchtuneMovesAllButTheLastAndFetchesThemAsNeeded) {
    EXPECT_EQ((std::vector<std::array<std::int32_t, 3>>{{0, 10, 11}, {1, 9, 10}, {2, 8, 9}}),
              moves_by(Rule::torchtune, 3));
    EXPECT_TRUE(moves_by(Rule::torchtune, 6).empty());
    EXPECT_TRUE(moves_by(Rule::deepspeed, 0).empty()) << "nothing is recomputed here";
}

TEST(CountLayers, DeepSpeedMovesInputsOfRecomputedLayers) {
    RankProgram rank = row_of_layers(3);
    // Forward of 0, 1, 2, then recompute and backward of each: the input of 2 stays.
    rank.operators.clear();
    rank.tensors.clear();
    const auto add = [&](OperatorKind kind, std::int32_t layer) {
        rank.operators.push_back({.kind = kind, .layer = layer, .duration = 10});
    };
    for (std::int32_t layer = 0; layer < 3; ++layer) {
        add(OperatorKind::forward, layer);
        rank.tensors.push_back(
            {.layer = layer, .micro_batch = 0, .bytes = 100, .uses = {layer, 7 - 2 * layer}});
    }
    for (std::int32_t layer = 3; layer-- > 0;) {
        add(OperatorKind::recompute, layer);
        add(OperatorKind::backward, layer);
    }
    const auto gaps = gaps_of(rank, {1'000'000'000, 0}, {.least_bytes = 1});
    const RankChoice choice = count_layers(Rule::deepspeed, rank, gaps, 1);
    ASSERT_EQ(2U, choice.size());
    EXPECT_EQ(6, choice[0].prefetch_at);
    EXPECT_EQ(7, choice[0].gap.need);
    EXPECT_EQ(4, choice[1].prefetch_at);
}

TEST(CountLayers, PlansOfAllRulesAreRightAndTheBestCountIsNoWorseThanAnyOther) {
    int compared = 0, moved = 0;
    for (int seed = 0; seed < cases(400); ++seed) {
        Chance chance(static_cast<std::uint64_t>(seed));
        const Description description = random_description(chance);
        const auto program = program_of(description);
        ASSERT_TRUE(program.ok()) << program.status().message();
        const auto rooms = rooms_of(description, *program, most_bytes);
        ASSERT_TRUE(rooms.ok()) << rooms.status().message();
        for (const Rule rule : rules_that_count) {
            Rooms tight = *rooms;
            for (std::size_t r = 0; r < tight.ranks.size(); ++r)
                tight.ranks[r].device_bytes =
                    std::max<std::int64_t>(1, peak_of(memory_of(program->ranks[r])).bytes * 9 / 10);
            Policy policy{.kinds = {.least_bytes = 1}, .rule = rule};
            const auto best = plan_by(*program, tight, policy);
            for (policy.count = 0; policy.count <= most_counted(rule, *program); ++policy.count) {
                const auto step = plan_by(*program, tight, policy);
                if (!step.ok()) continue;
                const Status right = check_plan(*program, tight, step->plan);
                ASSERT_TRUE(right.ok()) << "seed " << seed << ": " << right.message();
                ASSERT_TRUE(best.ok());
                EXPECT_LE(best->plan.step_ticks, step->plan.step_ticks);
                ++compared;
                for (const RankMoves& rank : step->plan.ranks)
                    moved += static_cast<int>(rank.moves.size());
            }
        }
    }
    EXPECT_GT(compared, cases(300));
    EXPECT_GT(moved, cases(1000));
}

TEST(CountLayers, OursNeverNeedsMoreMemory) {
    static constexpr std::array slowdowns = {0.0, 0.01, 0.05, 0.2};
    int less = 0;
    for (int seed = 0; seed < cases(400); ++seed) {
        Chance chance(static_cast<std::uint64_t>(seed));
        const Description description = random_description(chance);
        const auto program = program_of(description);
        ASSERT_TRUE(program.ok()) << program.status().message();
        const auto rooms = rooms_of(description, *program, most_bytes);
        ASSERT_TRUE(rooms.ok()) << rooms.status().message();
        Policy policy{.kinds = {.optimizer = false, .least_bytes = 1}};
        const auto ours = smallest_memory(*program, *rooms, policy, slowdowns);
        for (const Rule rule : rules_that_count) {
            policy.rule = rule;
            const auto theirs = smallest_memory(*program, *rooms, policy, slowdowns);
            for (std::size_t n = 0; n < slowdowns.size(); ++n) {
                EXPECT_LE(ours[n].device_bytes, theirs[n].device_bytes)
                    << "seed " << seed << ", " << name_of(rule) << ", " << slowdowns[n];
                less += ours[n].device_bytes < theirs[n].device_bytes ? 1 : 0;
            }
        }
    }
    EXPECT_GT(less, cases(400));
}

}  // namespace
}  // namespace gradcoll::mover
