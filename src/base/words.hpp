// base/words.hpp - cutting what people wrote to words.
#pragma once

#include <string_view>
#include <vector>

namespace gradcoll {

inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// "a, b,c" -> "a" "b" "c"; every comma separates, so "a," has an empty second word. At least one
/// word.
inline std::vector<std::string_view> split_at_commas(std::string_view text) {
    std::vector<std::string_view> words;
    for (;;) {
        const std::size_t comma = text.find(',');
        words.push_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return words;
        text.remove_prefix(comma + 1);
    }
}

}  // namespace gradcoll
