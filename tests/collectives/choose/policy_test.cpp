// tests/collectives/choose/policy_test.cpp - what is chosen, and that it can be planned.
#include "collectives/choose/policy.hpp"

#include "collectives/calls.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify/verify.hpp"

namespace gradcoll {
namespace {

using namespace testing;

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
    EXPECT_NE(text_of(tree, decision).find("2:4"), std::string::npos);
}

void expect_chunks(const Tree& tree, AutoChunk automatic) {
    const std::int64_t whole = automatic.whole_bytes / 4;
    EXPECT_EQ(decide(tree, call_of(whole), {}).spec.chunk_elems, 0);
    EXPECT_EQ(decide(tree, call_of(whole + 1), {}).spec.chunk_elems, automatic.chunk_bytes / 4);
}

TEST(Policy, SmallCallsGoWholeAndLongOnesInChunksSmallerWhereLevelsOverlap) {
    const Tree tree = two_level_tree({2, 3});
    expect_chunks(tree, shipped_tuning().many_level_chunk);
    expect_chunks(Tree::flat(4), shipped_tuning().one_level_chunk);
    PolicyOptions options;
    options.chunk_bytes = 0;
    EXPECT_EQ(decide(tree, call_of(1 << 24), options).spec.chunk_elems, 0);
    options.chunk_bytes = 1;
    EXPECT_EQ(decide(tree, call_of(1 << 24), options).spec.chunk_elems, 16);
    EXPECT_EQ(decide(Tree::flat(1), call_of(1 << 24), {}).spec.chunk_elems, 0);
}

TEST(Policy, KnownLinksDecideTheChunk) {
    const Tree tree = known_links({12.5, 1}, {50, 1});
    const std::int64_t chunk = decide(tree, call_of(1 << 22), {}).spec.chunk_elems;
    EXPECT_GT(chunk, 0);
    EXPECT_NE(chunk, shipped_tuning().many_level_chunk.chunk_bytes / 4);
    EXPECT_EQ(decide(tree, call_of(1 << 10), {}).spec.chunk_elems, 0);
}

TEST(Policy, OnlySingleExchangesStandAboveSingleOnes) {
    EXPECT_EQ(*level_exchanges_from("recursive,single"),
              (std::vector{ExchangeWish::recursive, ExchangeWish::single}));
    EXPECT_NE(level_exchanges_from("single,direct").status().message().find("above single: single"),
              std::string::npos);
    EXPECT_NE(level_exchanges_from("rng").status().message().find(
                  "auto, direct, ring, recursive, single"),
              std::string::npos);
}

TEST(Policy, ASingleExchangeThatCannotBeIsDirect) {
    PolicyOptions options;
    options.level_exchanges = {ExchangeWish::single};
    const Tree tree = known_links({12.5, 1}, {50, 1});
    const auto exchanges = [&](const PlanSpec& call) {
        const PlanSpec spec = decide(tree, call, options).spec;
        return std::vector{spec.choices[0].exchange, spec.choices[1].exchange};
    };
    EXPECT_EQ(exchanges(call_of(1000)), (std::vector{Exchange::single, Exchange::single}));
    PlanSpec gather = call_of(1000);
    gather.collective = Collective::allgather;
    EXPECT_EQ(exchanges(gather), (std::vector{Exchange::direct, Exchange::direct}));
    options.level_codecs = {CodecId::nm_2_4, CodecId::exact};
    EXPECT_EQ(exchanges(call_of(1000)), (std::vector{Exchange::single, Exchange::direct}));
    options.level_codecs = {CodecId::exact, CodecId::nm_2_4};
    EXPECT_EQ(exchanges(call_of(1000)), (std::vector{Exchange::direct, Exchange::direct}));
}

TEST(Policy, ShortVectorsTakeSingleExchangesAndLongOnesDoNot) {
    const Tree tree = known_links({12.5, 1}, {50, 1});
    const Decision few = decide(tree, call_of(256), {});
    EXPECT_EQ(few.spec.choices[0].exchange, Exchange::single);
    const std::string few_text = text_of(tree, few);
    EXPECT_NE(few_text.find("single exchanges from level"), std::string::npos) << few_text;
    ASSERT_FALSE(few.shortened.empty());
    EXPECT_LT(few.shortened.back().us, few.shortened.front().before_us);
    PolicyOptions direct;
    direct.level_exchanges = {ExchangeWish::direct};
    EXPECT_LT(few.predicted_us, decide(tree, call_of(256), direct).predicted_us);
    EXPECT_EQ(decide(tree, call_of(256), direct).spec.choices[0].exchange, Exchange::direct);
    const PlanSpec many = decide(tree, call_of(1 << 22), {}).spec;
    for (const VertexChoice& choice : many.choices) {
        EXPECT_NE(choice.exchange, Exchange::single);
        EXPECT_NE(choice.exchange, Exchange::merged);
    }
}

/// Two ranks below a switch beside six others: its latency dominates, its link is no bottleneck.
TEST(Policy, ALevelThatOnlyAddsLatencyIsMerged) {
    TreeSpec spec = two_level_tree({2, 2, 2}).spec();
    for (TreeSpec& branch : spec.children) {
        branch.uplink = {100, 1};
        for (TreeSpec& leaf : branch.children) leaf.uplink = {12.5, 5};
    }
    const Tree tree = Tree::make(spec).value();
    PolicyOptions options;
    options.level_codecs = {CodecId::exact};
    const Decision decision = decide(tree, call_of(256), options);
    const std::string text = text_of(tree, decision);
    EXPECT_EQ(decision.spec.choices[1].exchange, Exchange::merged) << text;
    EXPECT_NE(text.find("merged with"), std::string::npos);
    EXPECT_EQ(decision.exchanges.size(), 1U) << "a merged vertex has nothing to compare";
    EXPECT_EQ(verify(tree, plans_of(tree, decision.spec)).message(), "");
    options.level_codecs = {CodecId::nm_2_4, CodecId::exact};
    EXPECT_NE(decide(tree, call_of(4096), options).spec.choices[1].exchange, Exchange::merged);
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

}  // namespace
}  // namespace gradcoll
