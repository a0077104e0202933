// tests/collectives/predict/tuning_test.cpp - figures from files.
#include "collectives/predict/tuning.hpp"

#include <gtest/gtest.h>

#include "collectives/predict/tuning_file/tuning_file.hpp"

namespace gradcoll {
namespace {

TEST(Tuning, AFileThatSaysNothingKeepsTheShippedFigures) {
    EXPECT_EQ(*tuning_from("{}", "f"), shipped_tuning());
}

TEST(Tuning, TextOfATuningGivesItBack) {
    Tuning tuning;
    tuning.cores = 3;
    tuning.turn_us = 2.5;
    tuning.codecs[CodecId::nm_1_4].encode = Speed({{1e5, 30}, {1e8, 10}});
    tuning.shm.piece_bytes = 4096;
    tuning.host_pass = {Speed({{1e5, 8}, {1e8, 3}}), 0.5};
    Tuning read = *tuning_from(text_of(tuning, "a note"), "f");
    EXPECT_EQ(read.codecs_said.count(), all_codecs().size());
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

}  // namespace
}  // namespace gradcoll
