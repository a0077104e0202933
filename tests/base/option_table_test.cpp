// The table of settings and its names.
#include "base/option_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/option_parts.hpp"
#include "base/outside_options.hpp"

namespace gradcoll {
namespace {

TEST(OptionTable, RowsStandInTheOrderOfTheirIds) {
    for (const OptionInfo& row : option_table()) EXPECT_EQ(&info_of(row.id), &row);
    EXPECT_EQ(static_cast<std::size_t>(OptionId::built_in_count), GRADCOLL_BUILT_IN_OPTIONS);
    EXPECT_EQ(option_table().size(), static_cast<std::size_t>(OutsideOption::after_the_last));
}

TEST(OptionTable, NamesAreUniqueAndTheInfoKeyIsTheVariableInLowerCase) {
    std::set<std::string_view> variables;
    for (const OptionInfo& row : option_table()) {
        EXPECT_TRUE(variables.insert(row.variable).second) << row.variable;
        EXPECT_TRUE(row.variable.starts_with("GC_")) << row.variable;
        EXPECT_FALSE(row.help.empty()) << row.variable;
        EXPECT_TRUE(row.check == nullptr || !row.allowed.empty()) << row.variable;
        std::string key(row.variable);
        for (char& c : key) c = static_cast<char>(std::tolower(c));
        EXPECT_TRUE(row.info_key.empty() || row.info_key == key) << row.variable;
    }
}

/// The pages may name these besides settings: programs, handles, misspellings that are shown, and
/// the setting of examples/extend/setting.
const std::set<std::string> names_that_are_no_settings = {
    "gc_bench",    "gc_nicd",      "GC_PROFILE",     "gc_profile",   "gc_max_bytes", "GC_FLOAT16",
    "GC_BFLOAT16", "GC_MIN_BYTES", "GC_TREE_ORIGIN", "GC_TOLERENCE", "GC_TOL"};

bool is_a_setting_or_known(const std::string& name) {
    if (name.starts_with("GC_TEST_")) return true;
    if (names_that_are_no_settings.count(name) != 0) return true;
    for (const OptionInfo& row : option_table())
        if (!is_part(row) && (name == row.variable || name == row.info_key)) return true;
    return false;
}

std::vector<std::filesystem::path> pages_below(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> pages;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    return pages;
}

/// Returns the README and every page of the folders that have pages.
std::vector<std::filesystem::path> pages_of_the_project() {
    const std::filesystem::path root = GRADCOLL_TESTS_DIR "/..";
    std::vector<std::filesystem::path> pages = {root / "README.md"};
    for (const char* folder :
         {"docs", "topology", "compress", "collectives", "src", "examples", "osu-bench", "python"})
        for (auto& page : pages_below(root / folder)) pages.push_back(std::move(page));
    return pages;
}

TEST(OptionTable, HasEveryVariableAndInfoKeyThatAPageNames) {
    const std::regex name("\\b(GC_[A-Z0-9_]+|gc_[a-z0-9_]+)\\b");
    std::size_t names = 0;
    for (const auto& path : pages_of_the_project()) {
        std::ifstream page(path);
        const std::string text{std::istreambuf_iterator<char>(page), {}};
        for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
            ++names;
            EXPECT_TRUE(is_a_setting_or_known(at->str()))
                << path << " names " << at->str() << ", which is no setting";
        }
    }
    EXPECT_GT(names, 300u) << "the pages were not read";
}

/// Returns the part of the page of settings from the words that introduce the list to its end.
std::string list_of_what_limits_loss() {
    std::ifstream page(GRADCOLL_TESTS_DIR "/../docs/settings.md");
    std::stringstream text;
    text << page.rdbuf();
    const std::size_t begin = text.str().find("The settings that make sums exact in this way");
    return text.str().substr(begin, text.str().find("Names that may have meant", begin) - begin);
}

TEST(OptionTable, SaysOnThePageWhichSettingsLimitLoss) {
    const std::string list = list_of_what_limits_loss();
    for (const OptionInfo& row : option_table().first(GRADCOLL_BUILT_IN_OPTIONS))
        EXPECT_EQ(list.find(fmt::format("`{}`", row.variable)) != std::string::npos,
                  row.limits_loss && !is_part(row))
            << row.variable;
}

TEST(OptionTable, KnowsNoInfoKeyForASettingOfTheProcess) {
    EXPECT_TRUE(is_a_setting_or_known("GC_TUNING_FILE"));
    EXPECT_FALSE(is_a_setting_or_known("gc_tuning_file"));
}

TEST(OptionTable, PartsAreWordsOfASettingAndLimitLossOnlyIfItDoes) {
    std::set<std::string_view> wholes;
    for (const OptionInfo& row : option_table()) {
        const OptionInfo& whole = info_of(row.whole);
        EXPECT_FALSE(is_part(whole)) << row.variable;
        EXPECT_EQ(row.variable, is_part(row) ? fmt::format("{}={}", whole.variable, row.word)
                                             : std::string(whole.variable));
        EXPECT_TRUE(whole.limits_loss || !row.limits_loss) << row.variable;
        if (is_part(row)) wholes.insert(whole.variable);
    }
    EXPECT_TRUE(wholes.contains("GC_ENGINE"));
}

std::string split(OptionId whole, std::string_view text) {
    const auto parts = parts_in(whole, text);
    if (!parts) return parts.status().message();
    std::string all;
    for (const PartText& part : *parts)
        all += fmt::format("[{} {}]", info_of(part.id).variable, part.text);
    return all;
}

TEST(OptionParts, AreTheWordsOfAValueAndTheRestIsTheWholesOwn) {
    constexpr OptionId engine = OptionId::engine_strategy;
    EXPECT_EQ(split(engine, "ring, threads = 2"), "[GC_ENGINE ring][GC_ENGINE=threads 2]");
    EXPECT_EQ(split(engine, "bytes=8M,ps"), "[GC_ENGINE=bytes 8M][GC_ENGINE ps]");
    EXPECT_EQ(split(engine, "a,pack=0,b"), "[GC_ENGINE a,b][GC_ENGINE=pack 0]");
    EXPECT_EQ(split(engine, ""), "[GC_ENGINE ]");
    EXPECT_EQ(split(OptionId::chunk_bytes, "a,b=1"), "[GC_CHUNK_BYTES a,b=1]");
}

TEST(OptionParts, UnknownAndRepeatedWordsAreNamed) {
    EXPECT_EQ(split(OptionId::engine_strategy, "ring,thread=2"),
              "'thread=' is no word of GC_ENGINE; allowed: threads=, bytes=, pack=, coordinator=, "
              "replan=, stall=");
    EXPECT_EQ(split(OptionId::engine_strategy, "threads=2,threads=2"),
              "'threads=' is said twice in GC_ENGINE");
}

TEST(OptionParts, APathStandsLastWithItsCommas) {
    EXPECT_EQ(split(OptionId::report, "json,error=2,file=a,error=b"),
              "[GC_REPORT json][GC_REPORT=error 2][GC_REPORT=file a,error=b]");
    EXPECT_EQ(split(OptionId::trace, "spans=7,/a,spans=b.json"),
              "[GC_TRACE=spans 7][GC_TRACE /a,spans=b.json]");
    EXPECT_EQ(split(OptionId::trace, "span=7,a.json"),
              "'span=' is no word of GC_TRACE; allowed: spans=");
}

TEST(OptionParts, OfACodecAreNotTheKindsOfLinks) {
    EXPECT_EQ(split(OptionId::codec, "host=exact, switch=bound/abs=1e-3,down=bf16"),
              "[GC_CODEC host=exact,switch=bound/abs=1e-3][GC_CODEC=down bf16]");
    EXPECT_EQ(split(OptionId::codec, "0:4:4,500:2:4,every=calls:7"),
              "[GC_CODEC 0:4:4,500:2:4][GC_CODEC=every calls:7]");
    EXPECT_EQ(split(OptionId::codec, "numa=2:4"),
              "'numa=' is no word of GC_CODEC; allowed: host=, switch=, between=, down=, every=");
}

TEST(OptionParts, AreJoinedToWhatSplitsAgain) {
    const auto joined = [](std::string_view strategy, std::string_view threads) {
        std::vector<std::string> texts;
        for (const OptionInfo& row : option_table()) texts.emplace_back(row.default_value);
        texts[static_cast<std::size_t>(OptionId::engine_strategy)] = strategy;
        texts[static_cast<std::size_t>(OptionId::engine_threads)] = threads;
        return joined_parts(OptionId::engine_strategy, [&](OptionId id) {
            return std::string_view(texts[static_cast<std::size_t>(id)]);
        });
    };
    EXPECT_EQ(joined("ring", "2"), "ring,threads=2");
    EXPECT_EQ(joined("tree", "auto"), "tree");
    EXPECT_EQ(joined("", "2"), "threads=2");
}

std::string meant_by(std::string_view name) {
    const OptionInfo* const meant = meant_option_of_name(name);
    return meant != nullptr ? std::string(meant->variable) : "nothing";
}

TEST(OptionNames, ThatLookLikeSettingsOfAPartMeanIt) {
    EXPECT_EQ(meant_by("GC_ENGINE_THREADS"), "GC_ENGINE=threads");
    EXPECT_EQ(meant_by("engine_pack_bytes"), "GC_ENGINE=pack");
    EXPECT_EQ(meant_by("GC_REPORT_FILE"), "GC_REPORT=file");
    EXPECT_EQ(meant_by("GC_LEVEL_CODECS"), "GC_CODEC");
    EXPECT_EQ(meant_by("GC_SCHEDULE"), "GC_CODEC");
    EXPECT_EQ(meant_by("GC_MIN_BYTES"), "GC_COMPRESS_BYTES");
    EXPECT_EQ(meant_by("GC_MAX_BYTES"), "GC_COMPRESS_BYTES");
    EXPECT_EQ(meant_by("GC_DOWN_CODEC"), "GC_CODEC=down");
    EXPECT_EQ(meant_by("GC_STEP_EVERY"), "GC_CODEC=every");
    EXPECT_EQ(meant_by("GC_TRACE_SPANS"), "GC_TRACE=spans");
    EXPECT_EQ(meant_by("GC_NIC_DIR"), "GC_NIC=dir");
    EXPECT_EQ(meant_by("GC_DEVICE_MPI"), "GC_DEVICE=mpi");
    EXPECT_EQ(meant_by("GC_SHM_PROCESS_BYTES"), "GC_SHM_BYTES=process");
    EXPECT_EQ(meant_by("gc_engine_stall_seconds"), "GC_ENGINE=stall");
    EXPECT_NE(option_of_name("GC_ENGINE_THREADS")
                  .status()
                  .message()
                  .find("did you mean GC_ENGINE=threads=...?"),
              std::string::npos);
    EXPECT_FALSE(option_of_name("GC_ENGINE=threads").ok()) << "a part is no name";
}

TEST(OptionNames, AreFoundInAnySpellingAndSuggestedOtherwise) {
    for (const char* name :
         {"GC_COMPRESS_BYTES", "gc_compress_bytes", "compress_bytes", "Compress_Bytes"})
        EXPECT_EQ(*option_of_name(name), OptionId::compress_bytes) << name;
    for (const char* name : {"", "gc_", "GC_GC_CODEC", "min bytes"})
        EXPECT_FALSE(option_of_name(name).ok()) << name;
    EXPECT_NE(option_of_name("codek").status().message().find("did you mean GC_CODEC?"),
              std::string::npos);
    for (const char* name : {"toler", "GC_TOL", "Tolerance_Abs"}) {
        const OptionInfo* const meant = meant_option_of_name(name);
        ASSERT_NE(meant, nullptr) << name;
        EXPECT_EQ(meant->id, OptionId::tolerance) << name;
    }
    EXPECT_EQ(meant_option_of_name("en"), nullptr) << "too short to tell";
}

}  // namespace
}  // namespace gradcoll
