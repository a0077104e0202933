// tests/collectives/predict/tuning_test.cpp - reads figures from files.
#include "collectives/predict/tuning.hpp"

#include <gtest/gtest.h>

#include "collectives/predict/tuning_file/tuning_file.hpp"

namespace gradcoll {
namespace {

CodecId codec(const char* name) {
    return codec_from_name(name).value();
}

TEST(Tuning, AFileThatSaysNothingKeepsTheShippedFigures) {
    EXPECT_EQ(*tuning_from("{}", "f"), shipped_tuning());
}

/// Values that are refused are printed by recursion.
TEST(Tuning, HostileNestingIsRefusedNotFollowed) {
    for (const int deep : {100, 100'000}) {
        const auto depth = static_cast<std::size_t>(deep);
        const std::string nested = std::string(depth, '[') + std::string(depth, ']');
        for (const std::string& text :
             {nested, std::string(depth, '['), "{\"turn_us\": " + nested + "}"}) {
            const Status status = tuning_from(text, "f").status();
            EXPECT_EQ(status.code(), Code::invalid_argument);
            EXPECT_NE(status.message().find("f: brackets nest 10"), std::string::npos)
                << status.message();
        }
    }
    EXPECT_TRUE(tuning_from("{\"about\": \"" + std::string(1000, '[') + "\"}", "f").ok())
        << "in a text they mean nothing";
}

TEST(Tuning, TextOfATuningGivesItBack) {
    Tuning tuning;
    tuning.cores = 3;
    tuning.turn_us = 2.5;
    tuning.codecs[CodecId::nm_1_4].encode = Speed({{1e5, 30}, {1e8, 10}});
    tuning.codecs[codec("int8/rel=0.5")].decode = 4.5;
    tuning.packings[static_cast<std::size_t>(Packing::zstd)] = {0.25, 0.75};
    tuning.shm.piece_bytes = 4096;
    tuning.host_pass = {Speed({{1e5, 8}, {1e8, 3}}), 0.5};
    Tuning read = *tuning_from(text_of(tuning, "a note"), "f");
    EXPECT_EQ(read.codecs_said, std::vector<bool>(all_codec_forms().size(), true));
    read.codecs_said = tuning.codecs_said;
    read.links_said.reset();
    read.host_pass_said = false;
    EXPECT_EQ(read, tuning);
}

/// Forms of a codec have their own kernels: the speed of int8 says nothing of int8 with a
/// tolerance.
TEST(Tuning, FormsOfACodecHaveSpeedsOfTheirOwn) {
    const Tuning tuning = *tuning_from(
        R"({"codecs": {"int8": {"encode": 50}, "int8/abs": {"encode": 20}, "int8/seed": {"encode": 3},
            "bound": {"encode": 8}}})",
        "f");
    const auto encodes_at = [&](const char* name) {
        return tuning.of(codec(name)).encode.in_memory();
    };
    EXPECT_EQ(encodes_at("int8"), 50);
    EXPECT_EQ(encodes_at("int8+zstd"), 50);
    EXPECT_EQ(encodes_at("int8/abs=0.25"), 20);
    EXPECT_EQ(encodes_at("int8/abs=call+lz4"), 20);
    EXPECT_EQ(encodes_at("int8/seed=9"), 3);
    EXPECT_EQ(encodes_at("int8/rel=0.1"), rates_of(codec("int8/rel=0.1")).encode);
    EXPECT_NE(encodes_at("int8/rel=0.1"), encodes_at("int8/abs=0.25"));
    EXPECT_EQ(encodes_at("bound/abs=0.1"), 8) << "a parameter that changes no kernel";
    EXPECT_TRUE(tuning.codecs_said[form_index_of(codec("int8/abs=3"))]);
    EXPECT_FALSE(tuning.codecs_said[form_index_of(codec("int8/rel=0.3"))]);
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
        {R"({"codecs": {"int8/zstd": {}}})", {"/codecs/int8/zstd", "int8/seed"}},
        {R"({"packings": {"gzip": {}}})", {"/packings/gzip", "zstd, lz4"}},
        {R"({"packings": {"lz4": {"unpack": 0}}})", {"/packings/lz4/unpack", "0.001"}},
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
