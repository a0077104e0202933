// tests/collectives/predict/coarse_forecast_test.cpp - phases of one vertex, and chunks in a
// pipeline.
#include <gtest/gtest.h>

#include "collectives/calls.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/model.hpp"
#include "support/exchanges.hpp"

namespace gradcoll {
namespace {

using namespace testing;

TEST(Pipeline, IsUsedWhereALinkIsKnown) {
    EXPECT_FALSE(knows_links(two_level_tree({2, 3})));
    EXPECT_TRUE(knows_links(known_links({12.5, 1}, {50, 1})));
}

TEST(Pipeline, AChunkTakesAllLevelsAndTheNextOneTheBusiestLink) {
    const Tree tree = known_links({10, 1}, {20, 2});
    const Pipeline pipeline = pipeline_of(tree, shipped_tuning(), call_of(1 << 20));
    // A message in a branch passes two host links, one between branches the switches' links, too.
    EXPECT_DOUBLE_EQ(pipeline.fill_latency_us, 2 * 4 + 2 * 6);
    EXPECT_DOUBLE_EQ(pipeline.step_latency_us, 6);
    // Each phase takes 2/3 of the vector over a host's link, 1/2 over a switch's.
    EXPECT_NEAR(pipeline.fill_us_per_byte, 2 * (2.0 / 3 / 20e3 + 1.0 / 2 / 10e3), 1e-9);
    EXPECT_NEAR(pipeline.step_us_per_byte, 2 * 0.5 / 10e3, 1e-9);
    EXPECT_GT(pipeline.core_us, 0);
    EXPECT_EQ(pipeline.core_us_per_byte, 0);
}

TEST(Pipeline, LatencyMakesChunksFewerAndBandwidthMore) {
    const PlanSpec call = call_of(1 << 22);
    const auto chunks = [&](double gbytes_per_s, double latency_us) {
        return pipeline_of(known_links({gbytes_per_s, latency_us}, {50, latency_us}),
                           shipped_tuning(), call)
            .best_chunk_count(16e6, 1 << 10, usual_chunks_in_flight);
    };
    EXPECT_GT(chunks(12.5, 1), 1);
    EXPECT_GT(chunks(12.5, 1), chunks(12.5, 100));
    EXPECT_EQ(chunks(12.5, 100000), 1);
}

TEST(Pipeline, ManyBranchesCostMoreMessagesAChunk) {
    const PlanSpec call = call_of(1 << 18);
    const double few_us = pipeline_of(Tree::flat(4), shipped_tuning(), call).core_us;
    const double many_us = pipeline_of(Tree::flat(64), shipped_tuning(), call).core_us;
    EXPECT_DOUBLE_EQ(many_us, few_us * 63 / 3);
}

TEST(Cost, RingPaysBetweenManyHostsForLongMessagesOnly) {
    const Tree tree = Tree::flat(32);
    EXPECT_LT(phase_us(tree, shipped_tuning(), 0, Exchange::direct, 1e4),
              phase_us(tree, shipped_tuning(), 0, called("ring"), 1e4));
    EXPECT_GT(phase_us(tree, shipped_tuning(), 0, Exchange::direct, 1e9),
              phase_us(tree, shipped_tuning(), 0, called("ring"), 1e9));
    EXPECT_EQ(decide(tree, call_of(1 << 10), {}).spec.choices[0].exchange, Exchange::direct);
}

TEST(Cost, KnownLinksReplaceTheDefaults) {
    TreeSpec spec = Tree::flat(2).spec();
    spec.children[1].uplink = {1.0, 50.0};
    const Tree tree = Tree::make(spec).value();
    EXPECT_DOUBLE_EQ(link_figures(tree, shipped_tuning(), 0).gbytes_per_s, 1.0);
    EXPECT_DOUBLE_EQ(link_figures(tree, shipped_tuning(), 0).latency_us, 50.0);
    EXPECT_DOUBLE_EQ(phase_us(tree, shipped_tuning(), 0, Exchange::direct, 2e6), 50.0 + 1000.0);
}

}  // namespace
}  // namespace gradcoll
