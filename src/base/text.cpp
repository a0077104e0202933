#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// Returns three significant digits at least, no more than one after the point: 1.2, 12.3, 123.
std::string short_number(double value) {
    return std::abs(value) < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned char byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

/// Returns the bytes of the character that a lead byte begins; 0 if it begins none.
std::size_t length_by(unsigned char lead) {
    if (lead >= 0xC2 && lead <= 0xDF) return 2;
    if (lead >= 0xE0 && lead <= 0xEF) return 3;
    if (lead >= 0xF0 && lead <= 0xF4) return 4;
    return 0;
}

/// Returns false for overlong forms, surrogates, what is above U+10FFFF, and the two that XML
/// forbids.
bool is_allowed(std::uint32_t code, std::size_t length) {
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return code >= least[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) &&
           code != 0xFFFE && code != 0xFFFF;
}

/// Returns the bytes of the character of several bytes that begins at `at`; 0 if it is no UTF-8.
std::size_t character_length(std::string_view text, std::size_t at) {
    const std::size_t length = length_by(byte_at(text, at));
    if (length == 0 || at + length > text.size()) return 0;
    std::uint32_t code = byte_at(text, at) & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const unsigned char next = byte_at(text, at + i);
        if ((next & 0xC0U) != 0x80) return 0;
        code = code << 6 | (next & 0x3FU);
    }
    return is_allowed(code, length) ? length : 0;
}

std::string_view escaped(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        case '\t':
        case '\n':
        case '\r':
            return " ";
        default:
            return static_cast<unsigned char>(c) < ' ' || c == '\x7F' ? replacement
                                                                      : std::string_view();
    }
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
    const auto number = number_from<std::int64_t>(text);
    if (number && *number >= min && *number <= max) return *number;
    return bad_value("number", text, fmt::format("whole numbers from {} to {}", min, max));
}

Result<double> parse_positive(std::string_view text) {
    const auto number = number_from<double>(text);
    if (number && std::isfinite(*number) && *number > 0) return *number;
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

std::string bytes_text(std::uint64_t bytes) {
    constexpr const char* units[] = {"", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    if (bytes < 1024) return fmt::format("{}", bytes);
    auto value = static_cast<double>(bytes);
    int unit = 0;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        ++unit;
    }
    const bool whole = value == std::floor(value);
    return (whole ? fmt::format("{:.0f}", value) : short_number(value)) + units[unit];
}

std::string seconds_text(double seconds) {
    constexpr std::pair<double, const char*> units[] = {{1e-6, " us"}, {1e-3, " ms"}, {1, " s"}};
    const double size = std::abs(seconds);
    if (size < 0.5e-9) return "0";
    if (size < 999.5e-9) return fmt::format("{:.0f} ns", seconds * 1e9);
    for (const auto& [unit, name] : units)
        if (size < 999.5 * unit) return short_number(seconds / unit) + name;
    if (size < 9999.5) return fmt::format("{:.0f} s", seconds);
    return short_number(seconds / 3600) + " h";
}

std::string counted(std::uint64_t count, std::string_view thing) {
    return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

std::string ranks_text(std::span<const int> ranks) {
    constexpr std::size_t most = 8;
    const auto named = ranks.first(std::min(most, ranks.size()));
    std::string text =
        fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(named, ", "));
    if (ranks.size() > most) text += fmt::format(" and {} others", ranks.size() - most);
    return text;
}

std::string count_text(std::uint64_t count) {
    constexpr std::pair<double, const char*> units[] = {{1e6, " M"}, {1e9, " G"}, {1e12, " T"}};
    if (count < 10'000'000) return fmt::format("{}", count);
    for (const auto& [unit, name] : units)
        if (static_cast<double>(count) < 999.5 * unit)
            return short_number(static_cast<double>(count) / unit) + name;
    return short_number(static_cast<double>(count) / 1e15) + " P";
}

std::string markup_text(std::string_view text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (byte_at(text, at) < 0x80) {
            const std::string_view other = escaped(text[at]);
            result += other.empty() ? text.substr(at, 1) : other;
            ++at;
            continue;
        }
        const std::size_t length = character_length(text, at);
        result += length > 0 ? text.substr(at, length) : replacement;
        at += length > 0 ? length : 1;
    }
    return result;
}

}  // namespace gradcoll
