#include "base/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace gradcoll {

#define GRADCOLL_ROW(name) OptionInfo name##_option_row();
#include "option_table.inc"
#undef GRADCOLL_ROW

namespace {

auto numbered_rows() {
    auto rows = std::to_array<OptionInfo>({
#define GRADCOLL_ROW(name) name##_option_row(),
#include "option_table.inc"
#undef GRADCOLL_ROW
    });
    static_assert(rows.size() <= most_options, "OptionSet and SettingsText have room for no more");
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].id = static_cast<OptionId>(i);
    return rows;
}

}  // namespace

/// Never destroyed: calls may still come while the process leaves.
std::span<const OptionInfo> option_table() {
    static const auto& table = *new auto(numbered_rows());
    return table;
}

const OptionInfo& info_of(OptionId id) {
    return option_table()[static_cast<std::size_t>(id)];
}

const OptionInfo* find_option(std::string_view variable) {
    const auto table = option_table();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const auto& row) { return row.variable == variable; });
    return found == table.end() ? nullptr : &*found;
}

std::string suggested_option(std::string_view bare_name) {
    std::vector<std::string_view> known;
    for (const OptionInfo& row : option_table())
        known.push_back(row.variable.substr(option_prefix.size()));
    const auto nearest = nearest_word(bare_name, known);
    return nearest ? fmt::format("; did you mean {}{}?", option_prefix, *nearest) : std::string();
}

Result<OptionId> option_of_name(std::string_view name) {
    constexpr std::string_view small_prefix = "gc_";
    std::string wanted = lower_case(name);
    if (!wanted.starts_with(small_prefix)) wanted.insert(0, small_prefix);
    for (const OptionInfo& row : option_table())
        if (lower_case(row.variable) == wanted) return row.id;
    return Status(Code::invalid_argument,
                  fmt::format("{} is not a setting and is ignored{}", printable(name),
                              suggested_option(wanted.substr(small_prefix.size()))));
}

}  // namespace gradcoll
