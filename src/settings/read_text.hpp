// settings/read_text.hpp - values that several settings write alike.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/text.hpp"

namespace gradcoll {

/// Returns the enum value whose place among `names` the word has.
template <class T>
Result<T> one_of(std::string_view word, std::span<const std::string_view> names,
                 std::string_view allowed) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == word) return static_cast<T>(i);
    return Status(Code::invalid_argument,
                  fmt::format("'{}' is not allowed: {}", printable(word), allowed));
}

/// Returns the text without its blanks: "exact, 2:4" is meant as "exact,2:4".
inline std::string without_blanks(std::string_view text) {
    std::string out(text);
    std::erase(out, ' ');
    return out;
}

/// Reads a number of bytes, or `word`, which stands for none.
inline Result<std::optional<std::uint64_t>> parse_bytes_or(std::string_view word,
                                                           std::string_view text) {
    if (text == word) return std::optional<std::uint64_t>();
    const auto bytes = parse_bytes(text);
    if (!bytes) return bytes.status();
    return std::optional<std::uint64_t>(*bytes);
}

}  // namespace gradcoll
