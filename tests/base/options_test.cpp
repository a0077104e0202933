// The table of settings, evaluated against given environments.
#include "base/options.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <random>
#include <set>
#include <thread>

#include "base/config_file.hpp"

namespace gradcoll {
namespace {

OptionSet in_environment(const std::vector<std::string_view>& entries) {
    return OptionSet(entries);
}

TEST(OptionTable, RowsStandInTheOrderOfTheirIds) {
    for (const OptionInfo& row : option_table()) EXPECT_EQ(&info_of(row.id), &row);
    EXPECT_EQ(option_table().size(), static_cast<std::size_t>(OptionId::count));
}

TEST(OptionTable, NamesAreUniqueAndTheInfoKeyIsTheVariableInLowerCase) {
    std::set<std::string_view> variables;
    for (const OptionInfo& row : option_table()) {
        EXPECT_TRUE(variables.insert(row.variable).second) << row.variable;
        EXPECT_TRUE(row.variable.starts_with("GC_")) << row.variable;
        EXPECT_FALSE(row.allowed.empty() || row.help.empty()) << row.variable;
        std::string key(row.variable);
        for (char& c : key) c = static_cast<char>(std::tolower(c));
        EXPECT_TRUE(row.info_key.empty() || row.info_key == key) << row.variable;
    }
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : fmt::format("`{}`", text);
}

std::string settings_row(const OptionInfo& row) {
    return fmt::format("| {} | {} | {} | {} | {} |", code(row.variable), code(row.info_key),
                       code(row.default_value), row.allowed, row.help);
}

TEST(OptionTable, EveryRowStandsInTheSettingsPage) {
    std::ifstream page(GRADCOLL_TESTS_DIR "/../docs/settings.md");
    std::set<std::string> lines;
    for (std::string line; std::getline(page, line);) lines.insert(line);
    for (const OptionInfo& row : option_table())
        EXPECT_TRUE(lines.count(settings_row(row)) == 1) << "docs/settings.md lacks the line\n"
                                                         << settings_row(row);
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
        const std::string entry = std::string(row.variable) + "=a=b";
        const OptionSet set = in_environment({"HOME=/", entry});
        EXPECT_EQ(set.text(row.id), "a=b") << row.variable;
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

TEST(OptionSet, AMisspeltVariableIsNamedWithTheNearestKnownOne) {
    const OptionSet set = in_environment({"GC_MINBYTES=1"});
    ASSERT_EQ(set.complaints().size(), 1U);
    EXPECT_EQ(set.complaints()[0].text,
              "the environment variable GC_MINBYTES is not a setting and is ignored; did you mean "
              "GC_MIN_BYTES?");
}

TEST(OptionSet, AVariableFarFromAllIsNamedWithoutASuggestion) {
    const OptionSet set = in_environment({"GC_INITIAL_HEAP_SIZE=1"});
    ASSERT_EQ(set.complaints().size(), 1U);
    EXPECT_EQ(set.complaints()[0].text.find("did you mean"), std::string::npos);
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
    const OptionSet set = in({"GC_MIN_BYTES= 4M "}, "min_bytes = 1M\n\nchunk_bytes = 2M\nlog =\n");
    EXPECT_EQ(set.text(OptionId::min_bytes), "4M");
    EXPECT_EQ(set.place(OptionId::min_bytes), "environment");
    EXPECT_EQ(set.text(OptionId::chunk_bytes), "2M");
    EXPECT_EQ(set.source(OptionId::chunk_bytes), OptionSource::config_file);
    EXPECT_EQ(set.place(OptionId::chunk_bytes), "run.conf:3");
    EXPECT_EQ(set.text(OptionId::log), "warn");
    EXPECT_EQ(set.place(OptionId::log), "default");
}

TEST(OptionLayers, AVariableThatSaysTheCodecPutsOutWhatTheFileSaysOfIt) {
    const std::string_view file = "schedule = 0:1:4\nlevel_codecs = exact,2:4\nmin_bytes = 1M\n";
    const OptionSet set = in({"GC_CODEC=2:4"}, file);
    EXPECT_EQ(set.text(OptionId::codec), "2:4");
    EXPECT_EQ(set.text(OptionId::schedule), "");
    EXPECT_EQ(set.text(OptionId::level_codecs), "");
    EXPECT_EQ(set.text(OptionId::min_bytes), "1M");
    EXPECT_EQ(in({"GC_LOG=info"}, file).text(OptionId::schedule), "0:1:4");
}

Status refuse_x(OptionId, std::string_view text) {
    return text == "x" ? Status(Code::invalid_argument, "x is bad") : Status();
}

TEST(OptionLayers, ValuesThatFailFallToTheNextLayerWithTheirPlaces) {
    OptionSet set = in({"GC_CODEC=x", "GC_LOG=x"}, "schedule = 0:2:4\nlog = x\ncodec = bf16\n");
    set.leave_out_what_fails(refuse_x);
    EXPECT_EQ(set.text(OptionId::codec), "bf16");
    EXPECT_EQ(set.text(OptionId::schedule), "0:2:4") << "no variable says the codec any more";
    EXPECT_EQ(set.text(OptionId::log), "warn");
    ASSERT_EQ(set.complaints().size(), 3U);
    EXPECT_EQ(set.complaints()[0].text, "environment: x is bad; ignored, bf16 (run.conf:3) holds");
    EXPECT_EQ(set.complaints()[1].text, "environment: x is bad; ignored, warn (default) holds");
    EXPECT_EQ(set.complaints()[2].text, "run.conf:2: x is bad; ignored, warn (default) holds");
    EXPECT_EQ(set.complaints()[2].option, OptionId::log);
    set.leave_out_what_fails(refuse_x);
    EXPECT_EQ(set.complaints().size(), 3U) << "said once";
}

TEST(OptionLayers, ValuesOfTheProcessAreCheckedDownHere) {
    const std::pair<OptionId, const char*> bad[] = {
        {OptionId::log, "loud"},           {OptionId::cpu, "sse9"},
        {OptionId::yield, "maybe"},        {OptionId::enable, "2"},
        {OptionId::dump_config, "please"}, {OptionId::report, "xml"},
        {OptionId::report_error, "-1"},    {OptionId::report_error, "1000001"},
        {OptionId::trace_spans, "0"},      {OptionId::trace_spans, "100000001"},
        {OptionId::device, "cuda"},        {OptionId::device, "libplugin.so"}};
    for (const auto& [id, value] : bad) {
        const Status status = check_process_option(id, value);
        ASSERT_FALSE(status.ok()) << value;
        EXPECT_EQ(status.message(), fmt::format("{}={} is not allowed: {}", info_of(id).variable,
                                                value, info_of(id).allowed));
    }
    for (const char* device : {"auto", "off", "./libplugin.so", "/opt/lib/libplugin.so"})
        EXPECT_TRUE(check_process_option(OptionId::device, device).ok()) << device;
    for (const OptionInfo& row : option_table())
        EXPECT_TRUE(row.default_value.empty() ||
                    check_process_option(row.id, row.default_value).ok())
            << row.variable;
}

TEST(OptionNames, AreFoundInAnySpellingAndSuggestedOtherwise) {
    for (const char* name : {"GC_MIN_BYTES", "gc_min_bytes", "min_bytes", "Min_Bytes"})
        EXPECT_EQ(*option_of_name(name), OptionId::min_bytes) << name;
    for (const char* name : {"", "gc_", "GC_GC_CODEC", "min bytes"})
        EXPECT_FALSE(option_of_name(name).ok()) << name;
    EXPECT_NE(option_of_name("codek").status().message().find("did you mean GC_CODEC?"),
              std::string::npos);
}

TEST(OptionsOfProcess, AreReadOnceWhicheverThreadComesFirst) {
    ASSERT_EQ(setenv("GC_CODEC", "2:4", 1), 0);
    std::vector<const std::string*> seen(8);
    std::vector<std::thread> threads;
    for (auto& slot : seen) threads.emplace_back([&slot] { slot = &option_text(OptionId::codec); });
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(setenv("GC_CODEC", "bf16", 1), 0);
    for (const auto* text : seen) EXPECT_EQ(text, seen[0]);
    EXPECT_EQ(option_text(OptionId::codec), "2:4");
    EXPECT_EQ(option_source(OptionId::codec), OptionSource::environment);
}

}  // namespace
}  // namespace gradcoll
