// The layers of values, evaluated for given environments and files.
#include "base/option_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gradcoll {
namespace {

OptionSet in_environment(const std::vector<std::string_view>& entries) {
    return OptionSet(entries);
}

TEST(OptionSet, AnEmptyEnvironmentGivesTheDefaults) {
    const OptionSet set = in_environment({});
    for (const OptionInfo& row : option_table()) {
        EXPECT_EQ(set.text(row.id), row.default_value);
        EXPECT_EQ(set.source(row.id), OptionSource::default_value);
    }
    EXPECT_TRUE(set.complaints().empty());
}

TEST(OptionSet, EveryVariableCanBeSet) {
    for (const OptionInfo& row : option_table()) {
        const std::string entry = std::string(row.variable) + "=/b=c";
        const OptionSet set = in_environment({"HOME=/", entry});
        EXPECT_EQ(set.text(row.id), "/b=c") << row.variable;
        EXPECT_EQ(set.source(row.id), OptionSource::environment);
        EXPECT_TRUE(set.complaints().empty());
    }
}

TEST(OptionSet, SetToNothingIsNotSetAndTheFirstOfTwoCounts) {
    const OptionSet set = in_environment({"GC_CODEC=", "GC_LOG=info", "GC_LOG=trace"});
    EXPECT_EQ(set.text(OptionId::codec), "exact");
    EXPECT_EQ(set.source(OptionId::codec), OptionSource::default_value);
    EXPECT_EQ(set.text(OptionId::log), "info");
}

TEST(OptionSet, AValueSetsThePartsThatItNames) {
    const OptionSet set = in_environment({"GC_ENGINE=threads=2,bytes=8M", "GC_ENGINE=pack=0"});
    EXPECT_EQ(set.text(OptionId::engine_threads), "2");
    EXPECT_EQ(set.text(OptionId::engine_bytes), "8M");
    EXPECT_EQ(set.text(OptionId::engine_pack_bytes), "auto") << "the first of two counts";
    EXPECT_EQ(set.source(OptionId::engine_strategy), OptionSource::default_value);
    EXPECT_EQ(set.with_parts(OptionId::engine_strategy).text, "tree,threads=2,bytes=8M");
}

TEST(OptionSet, AValueWithAnUnknownWordIsIgnored) {
    const OptionSet set = in_environment({"GC_ENGINE=ring,thread=2"});
    EXPECT_EQ(set.text(OptionId::engine_strategy), "tree");
    ASSERT_EQ(set.complaints().size(), 1U);
    EXPECT_TRUE(set.complaints()[0].text.starts_with(
        "environment: GC_ENGINE=ring,thread=2: 'thread=' is no word of GC_ENGINE; allowed: "))
        << set.complaints()[0].text;
}

TEST(OptionSet, AMisspeltVariableIsNamedWithTheNearestKnownOne) {
    const OptionSet set = in_environment({"GC_MINBYTES=1"});
    ASSERT_EQ(set.complaints().size(), 1U);
    EXPECT_EQ(set.complaints()[0].text,
              "the environment variable GC_MINBYTES is not a setting and is ignored; did you mean "
              "GC_COMPRESS_BYTES?");
}

TEST(OptionSet, AVariableFarFromAllIsNamedWithoutASuggestion) {
    const OptionSet set = in_environment({"GC_SOMETHING_FAR_OFF=1"});
    ASSERT_EQ(set.complaints().size(), 1U);
    EXPECT_EQ(set.complaints()[0].text.find("did you mean"), std::string::npos);
}

TEST(OptionSet, VariablesOfTheGarbageCollectorAreNotOurs) {
    EXPECT_TRUE(
        in_environment({"GC_MARKERS=4", "GC_NPROCS=1", "GC_LOG_FILE=gc.log"}).complaints().empty());
    for (const OptionInfo& row : option_table())
        EXPECT_EQ(in_environment({std::string(row.variable) + "=x"}).text(row.id), "x");
}

TEST(OptionSet, WithoutValuesThereIsOneComplaint) {
    EXPECT_TRUE(in_environment({"HOME=/", "GC_CODEC="}).without_values("so").complaints().empty());
    ConfigFile file;
    file.entries.push_back({OptionId::log, "info", 1});
    const std::string_view entries[] = {"GC_DEVICE=./evil.so", "GC_CODECC=1"};
    const OptionSet set = OptionSet(entries, file).without_values("so it is");
    for (const OptionInfo& row : option_table()) EXPECT_EQ(set.text(row.id), row.default_value);
    ASSERT_EQ(set.complaints().size(), 1U);
    EXPECT_EQ(set.complaints()[0].text, "settings of the environment are ignored: so it is");
}

TEST(OptionSet, TestVariablesForeignOnesAndEntriesWithoutEqualsAreIgnored) {
    EXPECT_TRUE(
        in_environment({"GC_TEST_SEED=1", "GCC_COLORS=x", "GC_CODECC", "gc_codecc=1", "", "="})
            .complaints()
            .empty());
}

TEST(OptionSet, RandomEntriesNeverCrashAndComplaintsArePrintable) {
    std::mt19937 random(4);
    std::size_t complaints = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string entry = "GC_=";
        for (auto n = random() % 24; n > 0; --n) {
            const std::size_t at = 3 + random() % (entry.size() - 2);
            entry.insert(entry.begin() + static_cast<std::ptrdiff_t>(at),
                         static_cast<char>(1 + random() % 255));
        }
        const OptionSet set = in_environment({entry});
        for (const OptionComplaint& complaint : set.complaints())
            EXPECT_TRUE(std::all_of(complaint.text.begin(), complaint.text.end(),
                                    [](char c) { return c >= ' ' && c <= '~'; }));
        complaints += set.complaints().size();
    }
    EXPECT_GT(complaints, 10000U);
}

OptionSet in(const std::vector<std::string_view>& environment, std::string_view file) {
    return OptionSet(environment, parse_config(file, "run.conf"));
}

TEST(OptionLayers, TheEnvironmentIsStrongerThanTheFileAndThatThanTheDefault) {
    const OptionSet set =
        in({"GC_COMPRESS_BYTES= 4M "}, "compress_bytes = 1M\n\nchunk_bytes = 2M\nlog =\n");
    EXPECT_EQ(set.text(OptionId::compress_bytes), "4M");
    EXPECT_EQ(set.place(OptionId::compress_bytes), "environment");
    EXPECT_EQ(set.text(OptionId::chunk_bytes), "2M");
    EXPECT_EQ(set.source(OptionId::chunk_bytes), OptionSource::config_file);
    EXPECT_EQ(set.place(OptionId::chunk_bytes), "run.conf:3");
    EXPECT_EQ(set.text(OptionId::log), "warn");
    EXPECT_EQ(set.place(OptionId::log), "default");
}

TEST(OptionLayers, PartsOfOneSettingMayComeFromEachLayer) {
    const OptionSet set = in({"GC_ENGINE=threads=2"}, "engine = ring,threads=1\nengine=bytes=8M\n");
    const OptionValue all = set.with_parts(OptionId::engine_strategy);
    EXPECT_EQ(all.text, "ring,threads=2,bytes=8M");
    EXPECT_EQ(all.place, "run.conf:1, environment, run.conf:2");
    EXPECT_EQ(all.source, OptionSource::environment);
    EXPECT_EQ(set.with_parts(OptionId::codec).place, "default");
}

Status refuse_x(OptionId, std::string_view text) {
    return text == "x" ? Status(Code::invalid_argument, "x is bad") : Status();
}

TEST(OptionLayers, ValuesThatFailFallToTheNextLayerWithTheirPlaces) {
    OptionSet set = in({"GC_CODEC=x", "GC_LOG=x"}, "chunk_bytes = 2M\nlog = x\ncodec = bf16\n");
    set.leave_out_what_fails(refuse_x);
    EXPECT_EQ(set.text(OptionId::codec), "bf16");
    EXPECT_EQ(set.text(OptionId::log), "warn");
    ASSERT_EQ(set.complaints().size(), 3U);
    EXPECT_EQ(set.complaints()[0].text, "environment: x is bad; ignored, bf16 (run.conf:3) holds");
    EXPECT_EQ(set.complaints()[1].text, "environment: x is bad; ignored, warn (default) holds");
    EXPECT_EQ(set.complaints()[2].text, "run.conf:2: x is bad; ignored, warn (default) holds");
    EXPECT_EQ(set.complaints()[2].option, OptionId::log);
    set.leave_out_what_fails(refuse_x);
    EXPECT_EQ(set.complaints().size(), 3U) << "said once";
}

TEST(OptionLayers, WhatDoesNothingWithoutAnotherSettingIsSaid) {
    OptionSet alone = in({"GC_REPORT=error=100"}, "trace = spans=5\nreport = callsites=off\n");
    alone.tell_what_does_nothing();
    ASSERT_EQ(alone.complaints().size(), 2U);
    EXPECT_EQ(alone.complaints()[0].text,
              "environment: GC_REPORT=error=100 has no effect while GC_REPORT is off");
    EXPECT_EQ(alone.complaints()[1].text,
              "run.conf:1: GC_TRACE=spans=5 has no effect while GC_TRACE is nothing");
    OptionSet both = in({"GC_REPORT=text,error=100"}, "");
    both.tell_what_does_nothing();
    EXPECT_TRUE(both.complaints().empty());
}

TEST(OptionDoubt, IsAboutWhatIsIgnoredAndMayLimitLoss) {
    OptionSet set = in_environment({"GC_TOLERANCE=x", "GC_LOG=x", "GC_CODEC=2:4"});
    EXPECT_EQ(set.doubt(), "");
    set.leave_out_what_fails(refuse_x);
    EXPECT_EQ(set.doubt(), "GC_TOLERANCE (environment)");
    EXPECT_EQ(set.text(OptionId::codec), "2:4") << "what is allowed is still what was said";
}

TEST(OptionDoubt, IsAboutPartsToo) {
    OptionSet set = in({"GC_CODEC=2:4,down=x"}, "codec = every=x\n");
    set.leave_out_what_fails(refuse_x);
    EXPECT_EQ(set.doubt(), "GC_CODEC=down (environment), GC_CODEC=every (run.conf:1)");
    EXPECT_EQ(in_environment({"GC_CODEC=2:4,dwon=bf16"}).doubt(), "GC_CODEC (environment)");
    EXPECT_EQ(in({}, "codec = down=bf16,down=exact\n").doubt(), "what cannot be read (run.conf)");
    for (const char* name : {"GC_LEVEL_CODECS", "GC_DOWN_CODEC", "GC_SCHEDULE", "GC_STEP_EVERY"})
        EXPECT_EQ(in_environment({std::string(name) + "=exact"}).doubt(),
                  std::string(name) + " (environment)");
}

TEST(OptionDoubt, AMisspeltNameMayHaveMeantToLimitLoss) {
    EXPECT_EQ(in_environment({"GC_TOLERENCE=abs=1e-4"}).doubt(), "GC_TOLERENCE (environment)");
    EXPECT_EQ(in_environment({"GC_TOL=abs=1e-4", "GC_MAX_BYTES=1M"}).doubt(),
              "GC_TOL (environment), GC_MAX_BYTES (environment)");
    EXPECT_EQ(in_environment({"GC_TOLERANCE_ABS=1e-4"}).doubt(), "GC_TOLERANCE_ABS (environment)");
    EXPECT_EQ(in_environment({"GC_SOMETHING_FAR_OFF=1", "GC_CHUNK_BYTE=1", "GC_MARKERS=4"}).doubt(),
              "");
}

TEST(OptionDoubt, OfTheFileIsWhatNoVariableReplaces) {
    OptionSet file = in({}, "tolerance = x\nlog = x\n");
    file.leave_out_what_fails(refuse_x);
    EXPECT_EQ(file.doubt(), "GC_TOLERANCE (run.conf:1)");
    OptionSet replaced = in({"GC_TOLERANCE=abs=1e-4", "GC_CODEC=int8"}, "tolerance=x\ncodec=x\n");
    replaced.leave_out_what_fails(refuse_x);
    EXPECT_EQ(replaced.doubt(), "");
}

TEST(OptionDoubt, LinesThatCannotBeReadMayLimitLoss) {
    for (const char* line :
         {"GC_TOLERANCE abs=1e-4", "tolerence = abs=1e-4", "compress_bytes = \"1M",
          "compress_bytes = '1M' 2M", "GC_CONFIG_FILE = more.conf"})
        EXPECT_EQ(in({}, line).doubt(), "what cannot be read (run.conf)") << line;
    for (const char* line :
         {"chunk_byte = 1M", "log = \"info", "compress_bytes = 1M\ncompress_bytes = 2M"})
        EXPECT_EQ(in({}, line).doubt(), "") << line;
    EXPECT_EQ(in({}, std::string(longest_config_line + 1, 'x')).doubt(),
              "what cannot be read (run.conf)");
    EXPECT_EQ(OptionSet({}, read_config_file("/nonexistent/run.conf")).doubt(),
              "what cannot be read (/nonexistent/run.conf)");
}

}  // namespace
}  // namespace gradcoll
