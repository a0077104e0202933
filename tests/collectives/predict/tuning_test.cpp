// tests/collectives/predict/tuning_test.cpp - figures from files, and what is chosen and predicted by them.
#include "collectives/predict/tuning.hpp"

#include <gtest/gtest.h>

#include "collectives/build/planner.hpp"
#include "collectives/choose/codec_choice.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/predict/forecast.hpp"
#include "collectives/predict/tuning_file/tuning_file.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

Tree tree_of(const char* expression) {
    return tree_from_expression(expression, -1).value();
}

PlanSpec call_of(std::int64_t count) {
    PlanSpec spec;
    spec.count_elems = count;
    return spec;
}

TEST(Tuning, AFileThatSaysNothingKeepsTheShippedFigures) {
    EXPECT_EQ(*tuning_from("{}", "f"), shipped_tuning());
}

TEST(Tuning, TextOfATuningGivesItBack) {
    Tuning tuning;
    tuning.cores = 3;
    tuning.turn_us = 2.5;
    tuning.codecs[1].encode = Speed({{1e5, 30}, {1e8, 10}});
    tuning.shm.piece_bytes = 4096;
    tuning.host_pass = {Speed({{1e5, 8}, {1e8, 3}}), 0.5};
    Tuning read = *tuning_from(text_of(tuning, "a note"), "f");
    EXPECT_TRUE(read.codecs_said.all());
    read.codecs_said.reset();
    read.links_said.reset();
    read.host_pass_said = false;
    EXPECT_EQ(read, tuning);
}

TEST(Tuning, NamedKindsOfLinksAreStrongerThanInsideAndBetween) {
    const Tuning tuning = *tuning_from(
        R"({"links": {"numa": {"gbytes_per_s": 7}, "inside": {"gbytes_per_s": 5, "latency_us": 2}}})",
        "f");
    EXPECT_EQ(tuning.link_below(VertexKind::numa).gbytes_per_s.in_memory(), 7);
    EXPECT_EQ(tuning.link_below(VertexKind::numa).latency_us, 2);
    EXPECT_EQ(tuning.link_below(VertexKind::host).gbytes_per_s.in_memory(), 5);
    EXPECT_EQ(tuning.link_below(VertexKind::group), shipped_tuning().link_below(VertexKind::group));
    EXPECT_FALSE(tuning.links_said[static_cast<std::size_t>(VertexKind::group)]);
}

TEST(Tuning, WhatIsWrongIsNamedWithFileKeyValueAndWhatIsAllowed) {
    const struct {
        const char* text;
        std::vector<const char*> words;
    } cases[] = {
        {"{", {"f.json", "no JSON"}},
        {"[]", {"f.json: /", "an object"}},
        {R"({"speed": 1})", {"/speed", "unknown", "message_us"}},
        {R"({"message_us": -1})", {"/message_us", "-1", "from 0"}},
        {R"({"message_us": "1"})", {"/message_us", "\"1\"", "a number"}},
        {R"({"cores": 2.5})", {"/cores", "2.5", "integer"}},
        {R"({"cores": 18446744073709551615})", {"/cores", "integer from 0"}},
        {R"({"codecs": {"9:9": {}}})", {"/codecs/9:9", "2:4"}},
        {R"({"codecs": {"2:4": {"encode": 0}}})", {"/codecs/2:4/encode", "0.001"}},
        {R"({"codecs": {"2:4": {"encode": []}}})", {"/codecs/2:4/encode", "points"}},
        {R"({"codecs": {"2:4": {"encode": [{"bytes": 1}]}}})", {"/encode/0", "gbytes_per_s"}},
        {R"({"codecs": {"2:4": {"encode": [{"bytes": 2, "gbytes_per_s": 1},
                                           {"bytes": 2, "gbytes_per_s": 1}]}}})",
         {"/encode/1/bytes"}},
        {R"({"links": {"rank": {}}})", {"/links/rank", "numa"}},
        {R"({"chunks": {"one_level": {"chunk_bytes": 0}}})", {"/chunk_bytes", "0", "from 1"}},
        {R"({"shm": {"piece_bytes": -4}})", {"/shm/piece_bytes", "-4"}}};
    for (const auto& each : cases) {
        const Result<Tuning> tuning = tuning_from(each.text, "f.json");
        ASSERT_FALSE(tuning.ok()) << each.text;
        EXPECT_EQ(tuning.status().code(), Code::invalid_argument);
        for (const char* word : each.words)
            EXPECT_NE(tuning.status().message().find(word), std::string::npos)
                << tuning.status().message() << "\nlacks " << word;
    }
    EXPECT_EQ(read_tuning("/nonexistent/t.json").status().code(), Code::io);
    EXPECT_EQ(read_tuning("/").status().code(), Code::io);
}

TEST(Speed, ChangesWithTheLogarithmOfTheBytesBetweenPoints) {
    const Speed speed({{1e4, 30}, {1e8, 10}});
    EXPECT_DOUBLE_EQ(speed.at(1), 30);
    EXPECT_NEAR(speed.at(1e6), 20, 1e-9);
    EXPECT_DOUBLE_EQ(speed.at(1e12), 10);
    EXPECT_DOUBLE_EQ(Speed(4).at(123), 4);
}

TEST(Tuning, WhatTheTreeKnowsOfALinkWins) {
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

// ---- whether a codec pays

PolicyOptions asking(CodecId codec, CompressIf when) {
    PolicyOptions options;
    options.level_codecs = {codec};
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
    const std::string text = text_of(tree, decision);
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
    tuning.codecs[static_cast<std::size_t>(CodecId::nm_2_4)] = {0.01, 0.01, 0.01};
    PolicyOptions options = asking(CodecId::nm_2_4, CompressIf::pays);
    options.tuning = &tuning;
    const Decision decision = decide(tree_of(slow_between), call_of(1 << 22), options);
    for (const VertexChoice& choice : decision.spec.choices)
        EXPECT_EQ(choice.codec, CodecId::exact);
    EXPECT_EQ(decision.spec.down_codec, CodecId::exact);
    EXPECT_EQ(decision.spec.granule_elems, 16);
}

/// Two ranks, one part: what the formula gives can be worked out by hand.
TEST(CodecChoice, TheBreakEvenIsWhereSavedTransferEqualsCodecTime) {
    const Tree tree = tree_of("(*@1 *@1)");
    Tuning tuning;
    tuning.message_us = 0;
    tuning.codecs[0].decode_sum = 1e6;
    PlanSpec spec = call_of(1 << 20);
    spec.granule_elems = 512;
    spec.choices = std::vector<VertexChoice>(static_cast<std::size_t>(tree.vertex_count()),
                                             {Exchange::direct, CodecId::nm_2_4});
    spec.down_codec = CodecId::nm_2_4;
    const auto pays = [&](double gbytes_per_s) {
        tuning.codecs[static_cast<std::size_t>(CodecId::nm_2_4)] = {gbytes_per_s, gbytes_per_s,
                                                                    gbytes_per_s};
        return weigh_codecs(tree, tuning, spec).at(0).pays();
    };
    // Both phases save 1 - 17/32 of half the vector at 1 GB/s; a half is encoded and summed going
    // up, encoded, decoded and decoded again going down.
    const double saved = 2 * 0.5 * (1 - 17.0 / 32);
    const double break_even = 5 * 0.5 / saved;
    EXPECT_TRUE(pays(break_even * 1.02));
    EXPECT_FALSE(pays(break_even * 0.98));
}

TEST(CodecChoice, WithFeedbackTheLayoutOfResidualsStays) {
    const Tree tree = tree_of("switch(host(2x*@50)@0.1/1 host(2x*@50)@0.1/1)");
    PolicyOptions options = asking(CodecId::nm_2_4, CompressIf::always);
    options.feedback = true;
    options.level_exchanges = {ExchangeWish::direct};
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
