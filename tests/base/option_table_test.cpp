// The table of settings and its names.
#include "base/option_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <set>

namespace gradcoll {
namespace {

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

TEST(OptionNames, AreFoundInAnySpellingAndSuggestedOtherwise) {
    for (const char* name : {"GC_MIN_BYTES", "gc_min_bytes", "min_bytes", "Min_Bytes"})
        EXPECT_EQ(*option_of_name(name), OptionId::min_bytes) << name;
    for (const char* name : {"", "gc_", "GC_GC_CODEC", "min bytes"})
        EXPECT_FALSE(option_of_name(name).ok()) << name;
    EXPECT_NE(option_of_name("codek").status().message().find("did you mean GC_CODEC?"),
              std::string::npos);
}

}  // namespace
}  // namespace gradcoll
