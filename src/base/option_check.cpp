#include "base/option_check.hpp"

#include <algorithm>

namespace gradcoll {

Status check_word(const OptionInfo& row, std::string_view text) {
    const auto words = split_at_commas(row.allowed);
    const bool listed = std::find(words.begin(), words.end(), text) != words.end();
    return listed ? Status() : bad_value(row.variable, text, row.allowed);
}

Status check_word_or_switch(const OptionInfo& row, std::string_view text) {
    return parse_switch(text).ok() ? Status() : check_word(row, text);
}

}  // namespace gradcoll
