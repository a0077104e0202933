#include "settings/setting_table.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "base/outside_options.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name) SettingRow name##_setting_row();
#include "setting_table.inc"
#undef GRADCOLL_ROW

namespace {

using Table = std::array<SettingRow, most_options>;

Table make_table() {
    using enum OptionId;
    using enum OutsideOption;
    Table table;
#define GRADCOLL_ROW(name) table[static_cast<std::size_t>(name)] = name##_setting_row();
#include "setting_table.inc"
#undef GRADCOLL_ROW
    return table;
}

}  // namespace

/// The table is never destroyed, as calls may still come while the process leaves.
const SettingRow& setting_of(OptionId id) {
    static const Table& table = *new Table(make_table());
    return table[static_cast<std::size_t>(id)];
}

std::string allowed_of(OptionId id) {
    const SettingRow& row = setting_of(id);
    return row.allowed != nullptr ? row.allowed() : std::string(info_of(id).allowed);
}

std::string allowed_with_parts(OptionId whole) {
    std::string words;
    for (const OptionInfo* part : parts_of(whole)) words += fmt::format(" {}=", part->word);
    if (words.empty()) return allowed_of(whole);
    return fmt::format("{}; with commas:{}", allowed_of(whole), words);
}

std::string help_with_parts(OptionId whole) {
    std::string help(info_of(whole).help);
    for (const OptionInfo* part : parts_of(whole))
        help += fmt::format(". {}= {} ({}): {}", part->word, allowed_of(part->id),
                            part->default_value.empty()
                                ? "not set by default"
                                : fmt::format("default {}", part->default_value),
                            part->help);
    return help;
}

}  // namespace gradcoll
