// tests/collectives/policy_test.cpp - what is chosen, and that it can be planned.
#include "collectives/policy.hpp"

#include "collectives/cost.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify.hpp"

namespace gradcoll {
namespace {

using namespace testing;

PlanSpec call_of(std::int64_t count) {
    PlanSpec spec;
    spec.count_elems = count;
    return spec;
}

TEST(Policy, ReadsListsByLevel) {
    EXPECT_EQ(*level_codecs_from("exact,2:4"),
              (std::vector<CodecId>{CodecId::exact, CodecId::nm_2_4}));
    EXPECT_EQ(*level_exchanges_from("direct,auto,ring"),
              (std::vector<ExchangeWish>{ExchangeWish::direct, ExchangeWish::automatic,
                                         ExchangeWish::ring}));
    EXPECT_NE(level_exchanges_from("direct,rng").status().message().find("\"rng\""),
              std::string::npos);
    EXPECT_FALSE(level_codecs_from("").ok());
}

TEST(Policy, LastEntryHoldsForAllLevelsAbove) {
    const Tree tree = two_level_tree({2, 3});
    PolicyOptions options;
    options.level_codecs = {CodecId::exact, CodecId::nm_2_4};
    options.level_exchanges = {ExchangeWish::ring};
    const Decision decision = decide(tree, call_of(1 << 20), options);
    EXPECT_EQ(decision.spec.choices[0].codec, CodecId::nm_2_4);
    EXPECT_EQ(decision.spec.choices[0].exchange, Exchange::ring);
    EXPECT_EQ(decision.spec.choices[1].codec, CodecId::exact);
    EXPECT_EQ(decision.spec.down_codec, CodecId::nm_2_4);
    EXPECT_EQ(decision.spec.granule_elems, 512);
    EXPECT_NE(decision.why.find("2:4"), std::string::npos);
}

void expect_chunks(const Tree& tree, AutoChunk automatic) {
    const std::int64_t whole = automatic.whole_bytes / 4;
    EXPECT_EQ(decide(tree, call_of(whole), {}).spec.chunk_elems, 0);
    EXPECT_EQ(decide(tree, call_of(whole + 1), {}).spec.chunk_elems, automatic.chunk_bytes / 4);
}

TEST(Policy, SmallCallsGoWholeAndLongOnesInChunksSmallerWhereLevelsOverlap) {
    const Tree tree = two_level_tree({2, 3});
    expect_chunks(tree, many_level_chunk);
    expect_chunks(Tree::flat(4), one_level_chunk);
    PolicyOptions options;
    options.chunk_bytes = 0;
    EXPECT_EQ(decide(tree, call_of(1 << 24), options).spec.chunk_elems, 0);
    options.chunk_bytes = 1;
    EXPECT_EQ(decide(tree, call_of(1 << 24), options).spec.chunk_elems, 16);
    EXPECT_EQ(decide(Tree::flat(1), call_of(1 << 24), {}).spec.chunk_elems, 0);
}

TEST(Policy, EveryDecisionCanBePlanned) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const Tree tree = random_tree(1 + static_cast<int>(random() % 12), random);
        PolicyOptions options;
        options.feedback = random() % 2 == 0;
        if (random() % 2 == 0) options.level_codecs = {CodecId::exact, CodecId::nm_2_4};
        const Decision decision =
            decide(tree, call_of(static_cast<std::int64_t>(random() % 2000000)), options);
        const Status status = verify(tree, plans_of(tree, decision.spec));
        ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.message();
    }
}

TEST(Cost, RingPaysBetweenManyHostsForLongMessagesOnly) {
    const Tree tree = Tree::flat(32);
    EXPECT_LT(phase_us(tree, 0, Exchange::direct, 1e4), phase_us(tree, 0, Exchange::ring, 1e4));
    EXPECT_GT(phase_us(tree, 0, Exchange::direct, 1e9), phase_us(tree, 0, Exchange::ring, 1e9));
    EXPECT_EQ(decide(tree, call_of(1 << 10), {}).spec.choices[0].exchange, Exchange::direct);
}

TEST(Cost, KnownLinksReplaceTheDefaults) {
    TreeSpec spec = Tree::flat(2).spec();
    spec.children[1].uplink = {1.0, 50.0};
    const Tree tree = Tree::make(spec).value();
    EXPECT_DOUBLE_EQ(link_figures(tree, 0).gbytes_per_s, 1.0);
    EXPECT_DOUBLE_EQ(link_figures(tree, 0).latency_us, 50.0);
    EXPECT_DOUBLE_EQ(phase_us(tree, 0, Exchange::direct, 2e6), 50.0 + 1000.0);
}

TEST(Cost, ChunksMakeLevelsWorkAtTheSameTime) {
    const Tree tree = two_level_tree({4, 4, 4, 4});
    PlanSpec spec = call_of(1 << 24);
    const double whole = predicted_us(tree, spec);
    spec.chunk_elems = 1 << 18;
    EXPECT_LT(predicted_us(tree, spec), whole);
}

}  // namespace
}  // namespace gradcoll
