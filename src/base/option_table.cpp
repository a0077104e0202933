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
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].id = rows[i].whole = static_cast<OptionId>(i);
    for (OptionInfo& row : rows) {
        const std::size_t equals = row.variable.find('=');
        if (equals == std::string_view::npos) continue;
        row.word = row.variable.substr(equals + 1);
        const std::string_view whole = row.variable.substr(0, equals);
        row.whole = std::ranges::find(rows, whole, &OptionInfo::variable)->id;
    }
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

std::vector<const OptionInfo*> parts_of(OptionId whole) {
    std::vector<const OptionInfo*> parts;
    for (const OptionInfo& row : option_table())
        if (is_part(row) && row.whole == whole) parts.push_back(&row);
    return parts;
}

const OptionInfo* find_option(std::string_view variable) {
    const auto table = option_table();
    const auto found = std::find_if(table.begin(), table.end(), [&](const OptionInfo& row) {
        return !is_part(row) && row.variable == variable;
    });
    return found == table.end() ? nullptr : &*found;
}

namespace {

/// SoughtName is a name that somebody may write who means the option.
struct SoughtName {
    std::string name;
    const OptionInfo* row;
};

std::vector<SoughtName> sought_names() {
    std::vector<SoughtName> names;
    for (const OptionInfo& row : option_table()) {
        std::string name(bare_name_of(row));
        std::ranges::replace(name, '=', '_');
        names.push_back({std::move(name), &row});
        if (row.also_sought_as.empty()) continue;
        for (const std::string_view other : split_at_commas(row.also_sought_as))
            names.push_back({std::string(other), &row});
    }
    return names;
}

}  // namespace

const OptionInfo* meant_option(std::string_view bare_name) {
    constexpr std::size_t least_begun = 3;
    const std::vector<SoughtName> names = sought_names();
    if (bare_name.size() >= least_begun)
        for (const auto& [name, row] : names)
            if (begins_with(name, bare_name)) return row;
    std::vector<std::string_view> known;
    for (const SoughtName& sought : names) known.push_back(sought.name);
    if (const auto nearest = nearest_word(bare_name, known))
        return std::ranges::find(names, *nearest, &SoughtName::name)->row;
    const SoughtName* longest = nullptr;
    for (const SoughtName& sought : names)
        if (begins_with(bare_name, sought.name) &&
            (longest == nullptr || sought.name.size() > longest->name.size()))
            longest = &sought;
    return longest != nullptr ? longest->row : nullptr;
}

std::string suggestion_of(const OptionInfo* meant) {
    if (meant == nullptr) return {};
    return fmt::format("; did you mean {}{}?", meant->variable, is_part(*meant) ? "=..." : "");
}

Result<OptionId> option_of_name(std::string_view name) {
    const std::string_view wanted = bare_name_from(name);
    for (const OptionInfo& row : option_table())
        if (!is_part(row) && equal_ignoring_case(bare_name_of(row), wanted)) return row.id;
    return Status(Code::invalid_argument,
                  fmt::format("{} is not a setting and is ignored{}", printable(name),
                              suggestion_of(meant_option(wanted))));
}

const OptionInfo* meant_option_of_name(std::string_view name) {
    return meant_option(bare_name_from(name));
}

}  // namespace gradcoll
