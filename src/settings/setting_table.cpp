#include "settings/setting_table.hpp"

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

}  // namespace gradcoll
