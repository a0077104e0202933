// tests/collectives/predict/forecast_test.cpp - compares forecasts with cases that can be worked
// out by hand.
#include "collectives/predict/forecast.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "collectives/calls.hpp"

namespace gradcoll {
namespace {

using namespace testing;

/// Returns a tuning in which only links take time.
Tuning links_alone() {
    Tuning speeds = shipped_tuning();
    for (CodecSpeed& codec : speeds.codecs) codec = {1e9, 1e9, 1e9};
    speeds.message_us = 0;
    speeds.incast_loss_per_sender = 0;
    return speeds;
}

std::vector<int> in_order(int ranks) {
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

TEST(Forecast, TwoRanksTakeTheirBytesAndFourLatencies) {
    const Tree tree = tree_of("(*@1/3 *@1/2)");
    const Forecast forecast = forecast_tree(tree, links_alone(), call_of(250'000));
    EXPECT_NEAR(forecast.link_us, 1000, 0.1);    // half of 1 MB each phase at 1 GB/s
    EXPECT_NEAR(forecast.latency_us, 10, 1e-9);  // two phases over both links
    EXPECT_EQ(forecast.bound, Bound::link);
    EXPECT_EQ(forecast.chunks, 1);
}

TEST(Forecast, TheSlowestLinkIsTheOneThatIsBusyLongest) {
    const Tree tree = tree_of("switch(host(4x*@6)@1 host(2x*@6)@0.1 host(3x*@6)@1)");
    const Forecast forecast = forecast_tree(tree, links_alone(), call_of(1 << 20));
    EXPECT_EQ(forecast.slowest_link, tree.children(tree.root())[1]);
    const double bytes = 2.0 * (4 << 20) * 2 / 3;
    EXPECT_NEAR(forecast.slowest_link_us, bytes / 100, 1);
}

TEST(Forecast, HostsOfSmallBranchesCarryMoreOfTheUpperExchange) {
    const Tree tree = tree_of("switch(switch(2x host(2x*)) switch(4x host(2x*)))");
    const Forecast forecast = forecast_tree(tree, links_alone(), call_of(1 << 20));
    const auto bytes_of = [&](int branch) {
        const int child = tree.children(tree.root())[static_cast<std::size_t>(branch)];
        return forecast.bytes_on_links[static_cast<std::size_t>(tree.children(child)[0])];
    };
    const double call = 2.0 * (4 << 20);
    EXPECT_NEAR(bytes_of(0), call * (1.0 / 2 + 1.0 / 4), 1);
    EXPECT_NEAR(bytes_of(1), call * (3.0 / 4 + 1.0 / 8), 1);
}

TEST(Forecast, ChunksOverlapLevelsUpToTheBusiestLink) {
    const Tree tree = tree_of("switch(4x host(4x*@1/0.1)@1/0.1)");
    PlanSpec spec = call_of(1 << 24);
    const Forecast whole = forecast_tree(tree, links_alone(), spec);
    spec.chunk_elems = 1 << 18;
    const Forecast cut = forecast_tree(tree, links_alone(), spec);
    EXPECT_LT(cut.total_us, 0.7 * whole.total_us);
    EXPECT_GE(cut.total_us, cut.slowest_link_us);
    EXPECT_EQ(cut.chunks, 64);
}

TEST(Forecast, FewChunksInFlightHoldTheOthersBack) {
    const Tree tree = tree_of("switch(4x host(4x*@1/500)@1/500)");
    PlanSpec spec = call_of(1 << 24);
    spec.chunk_elems = 1 << 16;
    const Forecast forecast = forecast_tree(tree, links_alone(), spec);
    EXPECT_EQ(forecast.bound, Bound::in_flight);
}

TEST(Forecast, SlowCodecsBindTheCore) {
    const Tree tree = tree_of("(4x*@100)");
    PlanSpec spec = call_of(1 << 20);
    spec.granule_elems = 512;
    spec.choices = std::vector<VertexChoice>(static_cast<std::size_t>(tree.vertex_count()),
                                             {Exchange::direct, CodecId::nm_2_4});
    spec.down_codec = CodecId::nm_2_4;
    Tuning speeds = links_alone();
    speeds.codecs[CodecId::nm_2_4] = {0.5, 0.5, 0.5};
    EXPECT_EQ(forecast_tree(tree, speeds, spec).bound, Bound::core);
}

TEST(Forecast, RingsCostWhatTheirEdgesCross) {
    const Tree tree = tree_of("switch(switch(0 2)@1/1 switch(1 3)@1/1)");
    const int along[] = {0, 2, 1, 3};
    const PlanSpec call = call_of(1 << 20);
    const auto ring_us = [&](std::span<const int> order) {
        return forecast_flat_ring(tree, links_alone(), order, call, CodecId::exact).slowest_link_us;
    };
    const double good = ring_us(along);
    const double bad = ring_us(in_order(4));
    EXPECT_NEAR(bad / good, 2, 1e-9);
    EXPECT_NEAR(good, 2.0 * (4 << 20) * 3 / 4 / 1e3, 1);
}

TEST(Forecast, DirectExchangeSendsEveryPairsShareUp) {
    const Tree tree = tree_of("switch(host(2x*)@1/1 host(6x*)@1/1)");
    const Forecast forecast =
        forecast_flat_direct(tree, links_alone(), call_of(1 << 20), CodecId::exact);
    const int host = tree.children(tree.root())[0];
    EXPECT_NEAR(forecast.bytes_on_links[static_cast<std::size_t>(host)],
                2.0 * (4 << 20) * 2 * 6 / 8, 1);
}

TEST(Forecast, OneRankAndNoElementsTakeNoTime) {
    EXPECT_EQ(forecast_tree(Tree::flat(1), shipped_tuning(), call_of(1000)).total_us, 0);
    EXPECT_EQ(forecast_tree(Tree::flat(4), shipped_tuning(), call_of(0)).total_us, 0);
}

TEST(Forecast, WhatTheTreeKnowsOfALinkWins) {
    Tuning tuning;
    tuning.links.fill({1, 1});
    const Tree known = tree_of("switch(host(0)@2 host(1)@2)");
    const Tree unknown = tree_of("switch(host(0) host(1))");
    EXPECT_NEAR(forecast_tree(known, tuning, call_of(1 << 24)).link_us * 2,
                forecast_tree(unknown, tuning, call_of(1 << 24)).link_us, 1);
}

TEST(SharedMemoryForecast, RanksThatShareACoreTakeTurns) {
    Tuning tuning;
    tuning.cores = 2;
    tuning.turn_us = 10;
    tuning.host_pass = {4.0, 1.0};
    const Forecast two = forecast_shared_memory(tuning, 2, 4 << 20);
    EXPECT_DOUBLE_EQ(two.total_us, 1 + 2.0 * (4 << 20) / 4e3);
    const Forecast four = forecast_shared_memory(tuning, 4, 4 << 20);
    EXPECT_DOUBLE_EQ(four.total_us, 2 * 11 + 2 * 2.75 * (4 << 20) / 4e3);
    EXPECT_EQ(forecast_shared_memory(tuning, 1, 4 << 20).total_us, 0);
}

TEST(Forecast, CopiesInsideAHostAreItsCoresWork) {
    Tuning tuning;
    tuning.turn_us = 0;
    const Tree tree = tree_of("host(0-3)");
    tuning.cores = 4;
    const double enough_us = forecast_tree(tree, tuning, call_of(1 << 22)).core_total_us;
    tuning.cores = 2;
    EXPECT_NEAR(forecast_tree(tree, tuning, call_of(1 << 22)).core_total_us, 2 * enough_us, 1e-6);
}

TEST(Forecast, ChunksMakeLevelsWorkAtTheSameTime) {
    const Tree tree = two_level_tree({4, 4, 4, 4});
    PlanSpec spec = call_of(1 << 24);
    const double whole = forecast_tree(tree, shipped_tuning(), spec).total_us;
    spec.chunk_elems = 1 << 18;
    EXPECT_LT(forecast_tree(tree, shipped_tuning(), spec).total_us, whole);
}

}  // namespace
}  // namespace gradcoll
