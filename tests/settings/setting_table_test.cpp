// The table of what settings mean, and the page that lists them.
#include "settings/setting_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "topology/sources/job/source_table.hpp"

namespace gradcoll {
namespace {

TEST(SettingTable, WhateverACommunicatorCanHaveIsReadOrChecked) {
    for (const OptionInfo& row : option_table()) {
        const SettingRow& setting = setting_of(row.id);
        const bool understood = setting.read != nullptr || setting.check != nullptr;
        EXPECT_TRUE(row.info_key.empty() || understood) << row.variable;
        EXPECT_FALSE(setting.read != nullptr && setting.check != nullptr) << row.variable;
    }
}

TEST(SettingTable, WhatIsAllowedIsSaidInOnePlace) {
    for (const OptionInfo& row : option_table()) {
        EXPECT_FALSE(allowed_of(row.id).empty()) << row.variable;
        EXPECT_NE(row.allowed.empty(), setting_of(row.id).allowed == nullptr) << row.variable;
    }
    EXPECT_EQ(allowed_of(OptionId::topology), allowed_forms());
    EXPECT_EQ(allowed_of(OptionId::log), info_of(OptionId::log).allowed);
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : fmt::format("`{}`", text);
}

std::string settings_row(const OptionInfo& row) {
    return fmt::format("| {} | {} | {} | {} | {} |", code(row.variable), code(row.info_key),
                       code(row.default_value), allowed_with_parts(row.id),
                       help_with_parts(row.id));
}

/// Settings from outside the project have pages of their own. Sources of trees do, too, and with
/// these more is allowed than the page says.
TEST(SettingTable, EveryRowOfTheProjectStandsInTheSettingsPage) {
    std::ifstream page(GRADCOLL_TESTS_DIR "/../docs/settings.md");
    std::set<std::string> lines;
    for (std::string line; std::getline(page, line);) lines.insert(line);
    for (const OptionInfo& row : option_table().first(GRADCOLL_BUILT_IN_OPTIONS)) {
        if (is_part(row) || (GRADCOLL_EXTENDED && row.allowed.empty())) continue;
        EXPECT_TRUE(lines.count(settings_row(row)) == 1) << "docs/settings.md lacks the line\n"
                                                         << settings_row(row);
    }
}

}  // namespace
}  // namespace gradcoll
