// The table of settings and the one look at the environment.
#include "base/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/log.hpp"

namespace gradcoll {
namespace {

constexpr std::string_view prefix = "GC_";
constexpr std::string_view test_prefix = "GC_TEST_";

constexpr OptionInfo table[] = {
#define GRADCOLL_OPTION(id, ...) {OptionId::id, __VA_ARGS__},
#include "base/options.def"
#undef GRADCOLL_OPTION
};
static_assert(std::size(table) == static_cast<std::size_t>(OptionId::count));

const OptionInfo* find_variable(std::string_view name) {
    const auto* found = std::find_if(std::begin(table), std::end(table),
                                     [&](const auto& row) { return row.variable == name; });
    return found == std::end(table) ? nullptr : found;
}

/// Compared without the prefix, which would make every short name look near.
std::string complaint_about(std::string_view name) {
    std::vector<std::string_view> known;
    for (const OptionInfo& row : table) known.push_back(row.variable.substr(prefix.size()));
    const auto nearest = nearest_word(name.substr(prefix.size()), known);
    std::string text =
        "the environment variable " + printable(name) + " is not a setting and is ignored";
    if (nearest) text.append("; did you mean ").append(prefix).append(*nearest).append("?");
    return text;
}

OptionSet read_environment() {
    std::vector<std::string_view> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
        entries.emplace_back(*entry);
    return OptionSet(entries);
}

/// Never destroyed: calls may still arrive while the process leaves.
const OptionSet& options_of_process() {
    static const OptionSet& set = *new OptionSet(read_environment());
    return set;
}

}  // namespace

std::span<const OptionInfo> option_table() {
    return table;
}

const OptionInfo& info_of(OptionId id) {
    return table[static_cast<std::size_t>(id)];
}

OptionSet::OptionSet(std::span<const std::string_view> environment) {
    for (const OptionInfo& row : table)
        values_[static_cast<std::size_t>(row.id)].text = row.default_value;
    for (const std::string_view entry : environment) {
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(prefix) || equals == std::string_view::npos) continue;
        take(entry.substr(0, equals), entry.substr(equals + 1));
    }
}

void OptionSet::take(std::string_view name, std::string_view text) {
    if (name.starts_with(test_prefix)) return;
    const OptionInfo* row = find_variable(name);
    if (row == nullptr) {
        complaints_.push_back(complaint_about(name));
        return;
    }
    Value& value = values_[static_cast<std::size_t>(row->id)];
    if (text.empty() || value.source == OptionSource::environment) return;
    value = {std::string(text), OptionSource::environment};
}

const std::string& option_text(OptionId id) {
    return options_of_process().text(id);
}

OptionSource option_source(OptionId id) {
    return options_of_process().source(id);
}

void warn_about_unknown_variables() {
    static std::once_flag once;
    std::call_once(once, [] {
        for (const std::string& complaint : options_of_process().complaints())
            log(LogLevel::warn, "{}", complaint);
    });
}

}  // namespace gradcoll
