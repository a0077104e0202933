#include "base/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr OptionInfo table[] = {
#define GRADCOLL_OPTION(id, ...) {OptionId::id, __VA_ARGS__},
#include "base/options.def"
#undef GRADCOLL_OPTION
};
static_assert(std::size(table) == static_cast<std::size_t>(OptionId::count));

}  // namespace

std::span<const OptionInfo> option_table() {
    return table;
}

const OptionInfo& info_of(OptionId id) {
    return table[static_cast<std::size_t>(id)];
}

const OptionInfo* find_option(std::string_view variable) {
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const auto& row) { return row.variable == variable; });
    return found == std::end(table) ? nullptr : found;
}

std::string suggested_option(std::string_view bare_name) {
    std::vector<std::string_view> known;
    for (const OptionInfo& row : table) known.push_back(row.variable.substr(option_prefix.size()));
    const auto nearest = nearest_word(bare_name, known);
    return nearest ? fmt::format("; did you mean {}{}?", option_prefix, *nearest) : std::string();
}

Result<OptionId> option_of_name(std::string_view name) {
    constexpr std::string_view small_prefix = "gc_";
    std::string wanted = lower_case(name);
    if (!wanted.starts_with(small_prefix)) wanted.insert(0, small_prefix);
    for (const OptionInfo& row : table)
        if (lower_case(row.variable) == wanted) return row.id;
    return Status(Code::invalid_argument,
                  fmt::format("{} is not a setting and is ignored{}", printable(name),
                              suggested_option(wanted.substr(small_prefix.size()))));
}

}  // namespace gradcoll
