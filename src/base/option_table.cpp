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

std::string_view bare_name_of(const OptionInfo& row) {
    return row.variable.substr(option_prefix.size());
}

/// Returns the bare name of what people write: with or without the prefix, in any case.
std::string_view bare_name_from(std::string_view name) {
    const bool has_prefix =
        equal_ignoring_case(name.substr(0, option_prefix.size()), option_prefix);
    return has_prefix ? name.substr(option_prefix.size()) : name;
}

bool begins_with(std::string_view text, std::string_view beginning) {
    return equal_ignoring_case(text.substr(0, beginning.size()), beginning);
}

}  // namespace

/// Returns the table, which is never destroyed: calls may still come while the process leaves.
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

const OptionInfo* meant_option(std::string_view bare_name) {
    constexpr std::size_t least_begun = 3;
    const auto table = option_table();
    const auto row_where = [&](auto&& fits) {
        const auto row = std::find_if(table.begin(), table.end(),
                                      [&](const auto& one) { return fits(bare_name_of(one)); });
        return row != table.end() ? &*row : nullptr;
    };
    if (bare_name.size() >= least_begun)
        if (const auto* const begun =
                row_where([&](auto known) { return begins_with(known, bare_name); }))
            return begun;
    std::vector<std::string_view> known;
    for (const OptionInfo& row : table) known.push_back(bare_name_of(row));
    if (const auto nearest = nearest_word(bare_name, known))
        return row_where([&](auto one) { return one == *nearest; });
    return row_where([&](auto one) { return begins_with(bare_name, one); });
}

std::string suggestion_of(const OptionInfo* meant) {
    return meant != nullptr ? fmt::format("; did you mean {}?", meant->variable) : std::string();
}

Result<OptionId> option_of_name(std::string_view name) {
    const std::string_view wanted = bare_name_from(name);
    for (const OptionInfo& row : option_table())
        if (equal_ignoring_case(bare_name_of(row), wanted)) return row.id;
    return Status(Code::invalid_argument,
                  fmt::format("{} is not a setting and is ignored{}", printable(name),
                              suggestion_of(meant_option(wanted))));
}

const OptionInfo* meant_option_of_name(std::string_view name) {
    return meant_option(bare_name_from(name));
}

}  // namespace gradcoll
