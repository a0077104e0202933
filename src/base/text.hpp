// base/text.hpp - text that people wrote: cut into words, made into values, and what we say when it
// is none; and text for them: numbers, and what stands in XML and HTML.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// Returns the text without the blanks around it.
std::string_view trimmed(std::string_view text);

/// Lowers ASCII only, whatever the locale is; other bytes stay as they are.
constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
std::string lower_case(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

/// Returns whether `a` comes before `b` when numbers within names count as numbers: n2 before n10.
bool natural_less(std::string_view a, std::string_view b);

/// Splits "a, b,c" into "a" "b" "c"; every comma separates, so "a," has an empty second word. There
/// is at least one word.
std::vector<std::string_view> split_at_commas(std::string_view text);

/// Replaces unprintable bytes, and those of characters beyond ASCII, by '?'.
std::string with_plain_characters(std::string text);

/// Makes text from outside fit for a message: cut after 80 bytes, unprintable bytes become '?'.
std::string printable(std::string_view text);

/// Returns invalid_argument: "GC_CPU=fast is not allowed: best, scalar, avx2, avx512". `name` is
/// what the user wrote the value to (a variable, an info key, an argument). Long values are cut,
/// unprintable bytes become '?'.
Status bad_value(std::string_view name, std::string_view value, std::string_view allowed);

/// Returns the number that all of the text is, as std::from_chars() reads it; nothing if it is
/// none.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// The parsers below read the whole text or fail with invalid_argument, naming the text and what is
/// allowed. "4096", "64K", "64KiB", "1M", "1g" -> bytes (K, M, G and KiB, MiB, GiB are powers of
/// 1024, in any case).
Result<std::uint64_t> parse_bytes(std::string_view text);
/// Reads a decimal number, min <= value <= max.
Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max);
/// Reads a number, decimal or scientific, finite, more than 0: "0.001", "1e-3".
Result<double> parse_positive(std::string_view text);
/// Reads 0/1, on/off, yes/no, true/false, in any case.
Result<bool> parse_switch(std::string_view text);

/// Returns the known word nearest to `word` (fewest letters inserted, dropped, replaced or swapped;
/// case does not count), if it is near enough to be what was meant: at most a third of the letters,
/// at least one. The first wins among equals.
std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> known);

// ---- these write numbers as people read them, in seven columns at most

/// Returns a text such as "0", "999", "64 KiB", "1.2 MiB", "1023 GiB".
std::string bytes_text(std::uint64_t bytes);
/// Returns a text such as "0", "850 ns", "1.2 us", "12.3 ms", "9999 s", "2.8 h"; a sign stands in
/// front of negative ones.
std::string seconds_text(double seconds);
/// Returns a text such as "1 rank", "2 ranks", "0 ranks"; the number is as count_text() writes it.
std::string counted(std::uint64_t count, std::string_view thing);
/// Returns a text such as "rank 3", "ranks 3, 5", or "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 3 others".
std::string ranks_text(std::span<const int> ranks);
/// Returns "9999999" as it is, then "10.0 M", "1.2 G".
std::string count_text(std::uint64_t count);

/// Returns `text` as it may stand between tags and inside quoted attributes, also in a document
/// that a strict XML parser reads: &, <, >, quotes are escaped, tabs and line ends become blanks,
/// other control characters and bytes that are no UTF-8 become U+FFFD.
std::string markup_text(std::string_view text);

}  // namespace gradcoll
