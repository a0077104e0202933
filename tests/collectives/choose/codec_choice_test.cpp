// tests/collectives/choose/codec_choice_test.cpp - whether a codec pays, level by level.
#include "collectives/choose/codec_choice.hpp"

#include <gtest/gtest.h>

#include "collectives/build/planner.hpp"
#include "collectives/calls.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/draw/decision_text.hpp"

namespace gradcoll {
namespace {

using namespace testing;

PolicyOptions asking(CodecId codec, CompressIf when) {
    PolicyOptions options;
    options.codecs = {codec};
    options.compress_if = when;
    return options;
}

constexpr auto slow_between = "switch(host(4x*@50)@0.1 host(4x*@50)@0.1)";

TEST(CodecChoice, PaysOnSlowLinksAndNotOnFastOnes) {
    const Tree tree = tree_of(slow_between);
    const Decision decision =
        decide(tree, call_of(1 << 22), asking(CodecId::nm_2_4, CompressIf::pays));
    EXPECT_EQ(decision.spec.choices.of(tree.root()).codec, CodecId::nm_2_4);
    EXPECT_EQ(decision.spec.choices.of(tree.children(tree.root())[0]).codec, CodecId::exact);
    ASSERT_EQ(decision.codecs.size(), 2U);
    EXPECT_FALSE(decision.codecs[0].pays());
    EXPECT_TRUE(decision.codecs[1].pays());
    const std::string text = text_of(tree, decision, shipped_tuning());
    EXPECT_NE(text.find("level 1: 2:4 pays"), std::string::npos) << text;
    EXPECT_NE(text.find("level 0: 2:4 does not pay"), std::string::npos) << text;
}

TEST(CodecChoice, AlwaysAsksNobody) {
    const Tree tree = tree_of(slow_between);
    const Decision decision =
        decide(tree, call_of(1 << 22), asking(CodecId::nm_2_4, CompressIf::always));
    for (const int vertex : tree.inner_vertices())
        EXPECT_EQ(decision.spec.choices.of(vertex).codec, CodecId::nm_2_4);
}

TEST(CodecChoice, ASlowCodecNeverPaysAndTheCallIsExact) {
    Tuning tuning;
    tuning.codecs[CodecId::nm_2_4] = {0.01, 0.01, 0.01};
    PolicyOptions options = asking(CodecId::nm_2_4, CompressIf::pays);
    options.tuning = &tuning;
    const Decision decision = decide(tree_of(slow_between), call_of(1 << 22), options);
    for (const VertexChoice& choice : decision.spec.choices)
        EXPECT_EQ(choice.codec, CodecId::exact);
    EXPECT_EQ(decision.spec.down_codec, CodecId::exact);
    EXPECT_EQ(decision.spec.granule_elems, 16);
}

/// With two ranks and one part the result of the formula can be worked out by hand.
TEST(CodecChoice, TheBreakEvenIsWhereSavedTransferEqualsCodecTime) {
    const Tree tree = tree_of("(*@1 *@1)");
    Tuning tuning;
    tuning.message_us = 0;
    tuning.codecs[CodecId::exact].decode_sum = 1e6;
    PlanSpec spec = call_of(1 << 20);
    spec.granule_elems = 512;
    spec.choices = std::vector<VertexChoice>(static_cast<std::size_t>(tree.vertex_count()),
                                             {Exchange::direct, CodecId::nm_2_4});
    spec.down_codec = CodecId::nm_2_4;
    const auto pays = [&](double gbytes_per_s) {
        tuning.codecs[CodecId::nm_2_4] = {gbytes_per_s, gbytes_per_s, gbytes_per_s};
        return weigh_codecs(tree, tuning, spec).at(0).pays();
    };
    // Both phases save 1 - 17/32 of half the vector at 1 GB/s; a half is encoded and summed going
    // up, encoded, decoded and decoded again going down.
    const double saved = 2 * 0.5 * (1 - 17.0 / 32);
    const double break_even = 5 * 0.5 / saved;
    EXPECT_TRUE(pays(break_even * 1.02));
    EXPECT_FALSE(pays(break_even * 0.98));
}

CodecId named(const char* name) {
    return codec_from_name(name).value();
}

TEST(CodecChoice, NothingIsPackedInsideHosts) {
    const Tree tree = tree_of(slow_between);
    const Decision decision =
        decide(tree, call_of(1 << 22), asking(named("int8+zstd"), CompressIf::always));
    for (const int vertex : tree.inner_vertices())
        EXPECT_EQ(decision.spec.choices.of(vertex).codec,
                  vertex == tree.root() ? named("int8+zstd") : CodecId::int8);
    EXPECT_EQ(decision.spec.down_codec, named("int8+zstd"));
}

/// Here zstd saves a tenth, at less than half a gigabyte a second.
TEST(CodecChoice, PackingIsLeftOutWhereTheLinkIsFasterThanItAndTheCodecStays) {
    const auto decided = [](const std::string& gbytes_per_s) {
        const std::string text =
            "switch(host(*@50)@" + gbytes_per_s + " host(*@50)@" + gbytes_per_s + ")";
        const Tree tree = tree_of(text.c_str());
        return decide(tree, call_of(1 << 22), asking(named("int8+zstd"), CompressIf::pays));
    };
    const Decision slow = decided("0.01"), faster = decided("1");
    EXPECT_EQ(slow.spec.choices.of(0).codec, named("int8+zstd"));
    EXPECT_EQ(slow.spec.down_codec, named("int8+zstd"));
    EXPECT_TRUE(slow.codecs.at(0).packing_pays());
    EXPECT_EQ(faster.spec.choices.of(0).codec, CodecId::int8);
    EXPECT_EQ(faster.spec.down_codec, CodecId::int8);
    const CodecVerdict& verdict = faster.codecs.at(0);
    EXPECT_TRUE(verdict.pays());
    EXPECT_FALSE(verdict.packing_pays());
    EXPECT_EQ(verdict.compressed_us, verdict.unpacked_us);
    EXPECT_NE(text_of(verdict).find("level 0: int8 (int8+zstd: "), std::string::npos)
        << text_of(verdict);
    EXPECT_NE(text_of(verdict).find(" pays: "), std::string::npos) << text_of(verdict);
}

TEST(CodecChoice, WithFeedbackTheLayoutOfResidualsStays) {
    const Tree tree = tree_of("switch(host(2x*@50)@0.1/1 host(2x*@50)@0.1/1)");
    PolicyOptions options = asking(CodecId::nm_2_4, CompressIf::always);
    options.feedback = true;
    options.level_exchanges = {Exchange::direct};
    const PlanSpec always = decide(tree, call_of(1 << 22), options).spec;
    options.compress_if = CompressIf::pays;
    const PlanSpec pays = decide(tree, call_of(1 << 22), options).spec;
    EXPECT_NE(pays.choices, always.choices);
    EXPECT_EQ(pays.granule_elems, always.granule_elems);
    EXPECT_EQ(pays.chunk_elems, always.chunk_elems);
    const Plan a = make_plan(tree, always, 0).value();
    const Plan b = make_plan(tree, pays, 0).value();
    EXPECT_EQ(a.residual_elems(), b.residual_elems());
}

}  // namespace
}  // namespace gradcoll
