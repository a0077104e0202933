// base/option_check.hpp - common checks of values, for rows of the table of settings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/option_table.hpp"
#include "base/text.hpp"

namespace gradcoll {

/// Checks that the text is one of the words that the row lists as allowed, with commas. Errors:
/// invalid_argument, see bad_value().
inline Status check_word(const OptionInfo& row, std::string_view text) {
    const auto words = split_at_commas(row.allowed);
    const bool listed = std::find(words.begin(), words.end(), text) != words.end();
    return listed ? Status() : bad_value(row.variable, text, row.allowed);
}
/// Checks for such a word, or another spelling of on and off.
inline Status check_word_or_switch(const OptionInfo& row, std::string_view text) {
    return parse_switch(text).ok() ? Status() : check_word(row, text);
}

template <std::int64_t min, std::int64_t max>
Status check_number(const OptionInfo& row, std::string_view text) {
    return parse_integer(text, min, max).ok() ? Status()
                                              : bad_value(row.variable, text, row.allowed);
}

/// GC_FAULT_SECONDS is at most this.
inline constexpr std::int64_t most_fault_seconds = 1'000'000;

}  // namespace gradcoll
