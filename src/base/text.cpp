#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace gradcoll {
namespace {

constexpr std::size_t longest_printed = 80;

/// Returns the power of two that a unit stands for.
std::optional<unsigned> shift_of_unit(std::string_view unit) {
    constexpr std::pair<std::string_view, unsigned> units[] = {
        {"", 0}, {"k", 10}, {"kib", 10}, {"m", 20}, {"mib", 20}, {"g", 30}, {"gib", 30}};
    for (const auto& [name, shift] : units)
        if (equal_ignoring_case(unit, name)) return shift;
    return std::nullopt;
}

/// Takes the number off the beginning of `text` and returns it without leading zeros.
std::string_view take_number(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

/// Returns how many letters to insert, drop, replace or swap with the neighbour to get from one
/// word to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
            const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                                 lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered) c = lower(c);
    return lowered;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

bool natural_less(std::string_view a, std::string_view b) {
    const std::string_view whole_a = a;
    const std::string_view whole_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const std::string_view x = take_number(a);
            const std::string_view y = take_number(b);
            if (x.size() != y.size()) return x.size() < y.size();
            if (x != y) return x < y;
        } else {
            if (a.front() != b.front()) return a.front() < b.front();
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty()) return a.empty();
    return whole_a < whole_b;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
    std::vector<std::string_view> words;
    for (;;) {
        const std::size_t comma = text.find(',');
        words.push_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return words;
        text.remove_prefix(comma + 1);
    }
}

std::string with_plain_characters(std::string text) {
    for (char& c : text)
        if (c < ' ' || c > '~') c = '?';
    return text;
}

std::string printable(std::string_view text) {
    std::string result = with_plain_characters(std::string(text.substr(0, longest_printed)));
    return text.size() > longest_printed ? result + "..." : result;
}

Status bad_value(std::string_view name, std::string_view value, std::string_view allowed) {
    return {Code::invalid_argument,
            fmt::format("{}={} is not allowed: {}", printable(name), printable(value), allowed)};
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [unit, error] = std::from_chars(text.data(), end, number);
    const std::optional<unsigned> shift =
        error == std::errc{} ? shift_of_unit({unit, static_cast<std::size_t>(end - unit)})
                             : std::nullopt;
    if (shift && number <= std::numeric_limits<std::uint64_t>::max() >> *shift)
        return number << *shift;
    return bad_value("bytes", text,
                     "a whole number below 2^64, alone or with K, M or G (or KiB, MiB, GiB)");
}

Result<std::int64_t> parse_integer(std::string_view text, std::int64_t min, std::int64_t max) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && rest == end && number >= min && number <= max) return number;
    return bad_value("number", text, fmt::format("whole numbers from {} to {}", min, max));
}

Result<double> parse_positive(std::string_view text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && rest == end && std::isfinite(number) && number > 0) return number;
    return bad_value("number", text, "positive numbers such as 0.001 or 1e-3");
}

Result<bool> parse_switch(std::string_view text) {
    constexpr std::pair<std::string_view, bool> words[] = {
        {"1", true},   {"0", false},  {"on", true},   {"off", false},
        {"yes", true}, {"no", false}, {"true", true}, {"false", false}};
    for (const auto& [word, value] : words)
        if (equal_ignoring_case(text, word)) return value;
    return bad_value("switch", text, "0 or 1, on or off, yes or no, true or false");
}

std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> known) {
    std::optional<std::string_view> nearest;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view candidate : known) {
        // The lengths alone differ by as many letters: cheap, and it bounds the work for absurdly
        // long words.
        const bool too_long = word.size() >= candidate.size() + least;
        const bool too_short = candidate.size() >= word.size() + least;
        if (too_long || too_short) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance >= least) continue;
        least = distance;
        nearest = candidate;
    }
    return nearest;
}

}  // namespace gradcoll
