#include "settings/config_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <vector>

#include "base/text.hpp"
#include "settings/settings.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t widest_column = 40;

/// Puts the text in quotes if the file's reader would otherwise see something else.
std::string quoted(std::string text) {
    text = with_plain_characters(std::move(text));
    constexpr std::string_view quotes = "\"'";
    const bool plain =
        text.empty() || (text.find('#') == std::string::npos && text.front() != ' ' &&
                         text.back() != ' ' && quotes.find(text.front()) == std::string_view::npos);
    if (plain) return text;
    const char quote = text.find('"') == std::string::npos ? '"' : '\'';
    return quote + text + quote;
}

struct Line {
    std::string name, value, place;
};

/// Returns the line of a setting. GC_CONFIG_FILE cannot be set in a file: there it is only a
/// comment.
Line line_of(const OptionInfo& row, const OptionValue& value) {
    const char* const remark = row.id == OptionId::config_file ? "# " : "";
    return {fmt::format("{}{}", remark, row.variable), quoted(value.text), value.place};
}

}  // namespace

std::string config_table(const OptionSet& settings) {
    std::vector<Line> lines;
    std::size_t name_width = 0, value_width = 0;
    for (const OptionInfo& row : option_table()) {
        if (is_part(row)) continue;
        lines.push_back(line_of(row, settings.with_parts(row.id)));
        name_width = std::max(name_width, lines.back().name.size());
        if (lines.back().value.size() <= widest_column)
            value_width = std::max(value_width, lines.back().value.size());
    }
    std::string text = "# settings of gradcoll, and where each came from\n";
    for (const Line& line : lines)
        text += fmt::format("{:<{}} = {:<{}}  # {}\n", line.name, name_width, line.value,
                            value_width, line.place);
    return text;
}

std::string config_table() {
    return config_table(checked_options());
}

void dump_config_once(int world_rank) {
    const auto wanted = parse_switch(checked_options().text(OptionId::dump_config));
    if (world_rank != 0 || !wanted.ok() || !*wanted) return;
    static std::once_flag once;
    std::call_once(once, [] { std::fputs(config_table().c_str(), stderr); });
}

}  // namespace gradcoll
