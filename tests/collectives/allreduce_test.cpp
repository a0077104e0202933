// tests/collectives/allreduce_test.cpp - all ranks' plans together give the sum, in any order of
// events.
#include "collectives/shapes.hpp"

namespace gradcoll {
namespace {

using namespace testing;

TEST(Allreduce, ExactEqualsTheSumOnEveryRankOfRandomTrees) {
    expect_results<float>({}, 1200);
}

TEST(Allreduce, WorksForElementsOfEightBytesAndUpTo64Ranks) {
    Wish wish;
    wish.most_ranks = 64;
    expect_results<double>(wish, 60);
    expect_results<std::int64_t>(wish, 60);
}

TEST(Allreduce, LossyMixesEqualTheSumWhereNothingIsLost) {
    Wish wish;
    wish.lossy = true;
    expect_results<float>(wish, 800);
    expect_results<double>(wish, 100);
}

TEST(Allreduce, AllRanksHaveTheSameBitsWhateverIsLost) {
    Wish wish;
    wish.lossy = true;
    for (std::uint64_t seed = 5000; seed < 5400; ++seed) {
        const Shape shape = random_shape<float>(seed, wish);
        World<float> world(plans_of(shape.tree, shape.spec));
        fill(world, shape, random_data<float>(shape, false));
        ASSERT_EQ(world.run(seed), "") << "seed " << seed;
        for (const auto& output : world.outputs)
            ASSERT_EQ(output, world.outputs[0]) << "seed " << seed;
    }
}

TEST(Allreduce, ResultDoesNotDependOnTheOrderOfEvents) {
    Wish wish;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Shape shape = random_shape<float>(seed, wish);
        auto data = random_data<float>(shape, false);
        for (auto& of_rank : data)
            for (float& x : of_rank) x = 1.0F / (1.0F + x);  // sums then need rounding
        World<float> world(plans_of(shape.tree, shape.spec));
        fill(world, shape, data);
        ASSERT_EQ(world.run(1), "");
        const auto once = world.outputs;
        fill(world, shape, data);
        ASSERT_EQ(world.run(2), "");
        ASSERT_EQ(world.outputs, once) << "seed " << seed;
    }
}

TEST(Allreduce, WhatALossyCallKeepsBackLeavesWithTheNextExactOne) {
    Wish wish;
    wish.lossy = true;
    wish.feedback = true;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Shape shape = random_shape<float>(seed, wish);
        const auto data = random_data<float>(shape, false);
        World<float> lossy(plans_of(shape.tree, shape.spec));
        fill(lossy, shape, data);
        ASSERT_EQ(lossy.run(seed), "");
        shape.spec.down_codec = CodecId::exact;
        shape.spec.choices = shape.spec.choices.with_codec(CodecId::exact);
        World<float> exact(plans_of(shape.tree, shape.spec));
        fill(exact, shape, data);
        ASSERT_EQ(exact.residuals.size(), lossy.residuals.size());
        exact.residuals = lossy.residuals;
        ASSERT_EQ(exact.run(seed), "");
        const auto sum = expected(shape, data, 0);
        for (std::size_t rank = 0; rank < data.size(); ++rank)
            for (std::size_t i = 0; i < sum.size(); ++i)
                ASSERT_EQ(lossy.outputs[rank][i] + exact.outputs[rank][i], 2 * sum[i])
                    << "seed " << seed << " rank " << rank << " element " << i;
    }
}

TEST(Allreduce, ResidualLayoutDoesNotDependOnCodecs) {
    Wish wish;
    wish.lossy = true;
    wish.feedback = true;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Shape shape = random_shape<float>(seed, wish);
        const auto layout = [&] {
            std::vector<std::pair<Range, int>> ranges;
            for (const Plan& plan : plans_of(shape.tree, shape.spec))
                for (const Step& step : plan.body.steps)
                    if (step.kind == StepKind::encode) ranges.emplace_back(step.range, plan.rank);
            return ranges;
        };
        const auto before = layout();
        shape.spec.choices = shape.spec.choices.with_codec(CodecId::nm_1_4);
        shape.spec.down_codec = CodecId::bf16;
        ASSERT_EQ(layout(), before) << "seed " << seed;
    }
}

/// Packs of gradients rest on it: what is dropped of an element has one place, whoever encodes it.
TEST(Allreduce, WithFeedbackEveryRankEncodesEveryElementOnce) {
    Wish wish;
    wish.feedback = true;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        wish.lossy = seed % 4 != 0;
        const Shape shape = random_shape<float>(seed, wish);
        if (shape.tree.rank_count() == 1) continue;
        for (const Plan& plan : plans_of(shape.tree, shape.spec)) {
            std::vector<int> times(static_cast<std::size_t>(shape.spec.count_elems), 0);
            std::int64_t chunk_begin = 0;
            for (std::int64_t chunk = 0; chunk < plan.chunk_count; ++chunk) {
                const Schedule& schedule = plan.schedule_of(chunk);
                for (const Step& step : schedule.steps)
                    for (std::int64_t i = step.range.begin; i < step.range.end; ++i)
                        if (step.kind == StepKind::encode)
                            ++times[static_cast<std::size_t>(chunk_begin + i)];
                chunk_begin += schedule.count_elems;
            }
            ASSERT_EQ(std::count(times.begin(), times.end(), 1), shape.spec.count_elems)
                << "seed " << seed << " rank " << plan.rank;
        }
    }
}

TEST(ReduceScatterBlock, EveryRankGetsItsBlockOfTheSum) {
    Wish wish;
    wish.collective = Collective::reduce_scatter_block;
    expect_results<float>(wish, 400);
    wish.lossy = true;
    expect_results<float>(wish, 150);
}

TEST(Allgather, EveryRankGetsAllBlocks) {
    Wish wish;
    wish.collective = Collective::allgather;
    expect_results<float>(wish, 400);
    wish.lossy = true;
    expect_results<float>(wish, 150);
}

}  // namespace
}  // namespace gradcoll
