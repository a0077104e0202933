// tests/collectives/choose/loss_shares_test.cpp - which encodings get more of what a call may lose.
#include "collectives/choose/policy.hpp"

#include "collectives/calls.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify/verify.hpp"

namespace gradcoll {
namespace {

using namespace testing;

/// Makes switches with so many hosts each, below one switch.
Tree switches(const std::vector<int>& sizes, double switch_gbytes_per_s, double host_gbytes_per_s) {
    TreeSpec top;
    top.kind = VertexKind::fabric_switch;
    int rank = 0;
    for (const int size : sizes) {
        TreeSpec inner;
        inner.kind = VertexKind::fabric_switch;
        inner.uplink.bandwidth_gbytes_per_s = switch_gbytes_per_s;
        for (int i = 0; i < size; ++i) {
            TreeSpec host;
            host.kind = VertexKind::host;
            host.name = "host" + std::to_string(rank);
            host.rank = rank++;
            host.uplink.bandwidth_gbytes_per_s = host_gbytes_per_s;
            inner.children.push_back(host);
        }
        top.children.push_back(inner);
    }
    return Tree::make(top).value();
}

PlanSpec decided(const Tree& tree, HopCodecs codecs) {
    PolicyOptions options;
    options.codecs = std::move(codecs);
    return decide(tree, call_of(1 << 22), options).spec;
}

TEST(LossShares, WhatCrossesTheBusiestLinksMayLoseMore) {
    const Tree tree = switches({2, 3}, 0.0625, 0.125);
    const PlanSpec spec = decided(tree, {CodecId::bound});
    EXPECT_EQ(name_of(spec.choices[0].codec), "bound/abs=8call");
    EXPECT_EQ(name_of(spec.down_codec), "bound/abs=8call");
    for (const int below : {1, 4}) EXPECT_EQ(spec.choices.of(below).codec, CodecId::bound);
    const std::vector<Plan> plans = plans_of(tree, spec);
    EXPECT_EQ(verify(tree, plans).message(), "");
    EXPECT_EQ(plans.front().loss_parts, (LossParts{1 + 2 + 8 + 8, 8}));
}

TEST(LossShares, AreEqualWhereAllCrossTheBusiestLinks) {
    for (const Tree& tree : {switches({1, 1}, 0, 0.125), Tree::flat(4)})
        EXPECT_EQ(loss_parts_of(tree, decided(tree, {CodecId::bound})).largest, 1);
}

/// All encodings cross the same links, and the way down has one where the way up has many.
TEST(LossShares, TheWayDownMayLoseMoreThanManyEncodingsBeforeIt) {
    for (const auto& [sizes, down] : {std::pair{std::vector{3, 3}, 4}, {std::vector{8, 8}, 8}}) {
        const Tree tree = switches(sizes, 12.5, 0.125);
        const PlanSpec spec = decided(tree, {CodecId::bound});
        EXPECT_EQ(spec.choices.of(0).codec, CodecId::bound);
        EXPECT_EQ(loss_parts_of(spec.down_codec), down);
        const std::vector<Plan> plans = plans_of(tree, spec);
        EXPECT_EQ(verify(tree, plans).message(), "");
        EXPECT_EQ(plans.front().loss_parts, (LossParts{tree.rank_count() - 1 + down, down}));
    }
}

TEST(LossShares, OfTheUsersStayAndOtherCodecsHaveNone) {
    const Tree tree = switches({2, 3}, 0.0625, 0.125);
    const CodecId twice = *codec_from_name("bound/abs=2call");
    EXPECT_EQ(decided(tree, {twice, CodecId::bound}).choices.of(0).codec, CodecId::bound);
    const CodecId quantized = *codec_from_name("int8/abs=call");
    EXPECT_EQ(decided(tree, {quantized}).choices.of(0).codec, quantized);
    EXPECT_EQ(decided(tree, {CodecId::nm_2_4}).choices.of(0).codec, CodecId::nm_2_4);
    const CodecId packed = *codec_from_name("bound+zstd");
    EXPECT_EQ(name_of(decided(tree, {packed}).choices.of(0).codec), "bound/abs=8call+zstd");
}

TEST(LossShares, CanBePlannedOnAnyTree) {
    int dealt = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::mt19937_64 random(seed);
        TreeSpec spec = random_tree(2 + static_cast<int>(random() % 12), random).spec();
        const auto set_links = [&](auto&& self, TreeSpec& at) -> void {
            at.uplink.bandwidth_gbytes_per_s = 0.05 * static_cast<double>(1 + random() % 6);
            for (TreeSpec& child : at.children) self(self, child);
        };
        for (TreeSpec& child : spec.children) set_links(set_links, child);
        const Tree tree = Tree::make(spec).value();
        PolicyOptions options;
        options.codecs = {random() % 2 == 0 ? CodecId::bound : CodecId::exact, CodecId::bound};
        const Decision decision =
            decide(tree, call_of(static_cast<std::int64_t>(random() % 2000000)), options);
        const std::vector<Plan> plans = plans_of(tree, decision.spec);
        ASSERT_EQ(verify(tree, plans).message(), "") << "seed " << seed;
        dealt += plans.front().loss_parts.largest > 1 ? 1 : 0;
    }
    EXPECT_GT(dealt, 20);
}

}  // namespace
}  // namespace gradcoll
