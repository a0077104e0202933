// tests/collectives/predict/model_test.cpp - the formulas that predictions are made of.
#include "collectives/predict/model.hpp"

#include <gtest/gtest.h>

#include "collectives/calls.hpp"
#include "collectives/predict/links.hpp"

namespace gradcoll {
namespace {

using namespace testing;

TEST(Model, AFurtherChunkTakesTheBusiestLinkOrCoreOrWaits) {
    ChunkFlow flow{100, 10, 20};
    EXPECT_DOUBLE_EQ(flow.further_us(), 20);
    flow.link_us = 30;
    EXPECT_DOUBLE_EQ(flow.further_us(), 30);
    flow.in_flight = 2;
    EXPECT_DOUBLE_EQ(flow.further_us(), 50);
    EXPECT_DOUBLE_EQ(flow.total_us(0), 100);
    EXPECT_DOUBLE_EQ(flow.total_us(1.5), 175);
}

TEST(Model, ManySendersCostOnlyBetweenHostsAndForecastsBoundIt) {
    const Tree hosts = tree_of("switch(host(0) host(1))");
    const Tuning& tuning = shipped_tuning();
    const double loss = tuning.incast_loss_per_sender;
    EXPECT_DOUBLE_EQ(many_senders_factor(hosts, tuning, 0, 1), 1);
    EXPECT_DOUBLE_EQ(many_senders_factor(hosts, tuning, 0, 101), 1 + 100 * loss);
    EXPECT_DOUBLE_EQ(bounded_senders_factor(hosts, tuning, 0, 101), 1 + tuning.most_incast_loss);
    EXPECT_DOUBLE_EQ(many_senders_factor(tree_of("host(0-3)"), tuning, 0, 101), 1);
}

/// One switch has a link that is slower than those of its two hosts together, the other one that is
/// faster.
TEST(Model, WhatLeavesAVertexTakesItsUplinkOrTheLinksBelowIt) {
    const Tree tree = tree_of("switch(switch(2x host(2x*@6)@2)@3 switch(2x host(2x*@6)@2)@5)");
    const std::vector<double> us = outlets_us_per_byte(tree, shipped_tuning(), {});
    const auto switches = tree.children(tree.root());
    EXPECT_DOUBLE_EQ(us[static_cast<std::size_t>(switches[0])], 1 / 3e3);
    EXPECT_DOUBLE_EQ(us[static_cast<std::size_t>(switches[1])], 1 / 4e3);
}

TEST(Model, AMessageClimbsFromTheFarthestRank) {
    const Tree tree = tree_of("switch(host(*@6/1 *@6/2)@2/10 host(2x*@6/1)@2/5)");
    const std::vector<double> us = climb_latencies_us(tree, shipped_tuning());
    EXPECT_DOUBLE_EQ(us[static_cast<std::size_t>(tree.children(tree.root())[0])], 12);
    EXPECT_DOUBLE_EQ(us[static_cast<std::size_t>(tree.children(tree.root())[1])], 6);
    EXPECT_DOUBLE_EQ(us.front(), 12);
}

TEST(Model, ExactElementsAreNeitherEncodedNorDecoded) {
    const Tuning& tuning = shipped_tuning();
    EXPECT_EQ(encode_us(tuning, CodecId::exact, 1e6, beyond_caches), 0);
    EXPECT_EQ(decode_us(tuning, CodecId::exact, 1e6, beyond_caches), 0);
    EXPECT_GT(add_us(tuning, CodecId::exact, 1e6, beyond_caches), 0);
    EXPECT_GT(encode_us(tuning, CodecId::nm_2_4, 1e6, beyond_caches), 0);
}

/// Below an exact vertex everybody gets values, even if the lower vertex is lossy.
TEST(Links, EncodingsTravelDownToTheFirstExactVertex) {
    const Tree tree = tree_of("switch(switch(2x host(2x*)) switch(2x host(2x*)))");
    PlanSpec spec = call_of(1 << 20);
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()),
                                      {Exchange::direct, CodecId::nm_2_4});
    const auto exact = static_cast<std::size_t>(tree.children(tree.root())[1]);
    choices[exact].codec = CodecId::exact;
    spec.choices = choices;
    spec.down_codec = CodecId::nm_2_4;
    const std::vector<char> framed = framed_down(tree, spec);
    for (const int vertex : tree.inner_vertices())
        EXPECT_EQ(framed[static_cast<std::size_t>(vertex)] != 0,
                  static_cast<std::size_t>(vertex) < exact)
            << vertex;
    spec.down_codec = CodecId::exact;
    EXPECT_EQ(framed_down(tree, spec).front(), 0);
}

}  // namespace
}  // namespace gradcoll
