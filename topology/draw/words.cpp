// topology/draw/words.cpp - see words.hpp.
#include "topology/draw/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "topology/pci_address.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t max_pieces = 16;      // pieces of a list before it is sorted
constexpr std::size_t max_list_chars = 20;  // characters of the numbers in a common name

/// A Piece is the numbers first, first + step, ..., `count` of them.
struct Piece {
    int first = 0;
    int step = 1;
    int count = 1;
    int last() const { return first + (count - 1) * step; }
};

/// Returns the longest piece from `at` on; steps other than 1 need four numbers to be worth it.
Piece piece_at(std::span<const int> numbers, std::size_t at) {
    constexpr int worth = 4;
    Piece piece{numbers[at], 1, 1};
    if (at + 1 == numbers.size()) return piece;
    const std::int64_t step = std::int64_t{numbers[at + 1]} - numbers[at];
    std::size_t end = at + 1;
    while (end < numbers.size() && std::int64_t{numbers[end]} - numbers[end - 1] == step) ++end;
    const auto count = static_cast<int>(end - at);
    if (step == 1 || (step > 1 && count >= worth))
        piece = {numbers[at], static_cast<int>(step), count};
    return piece;
}

std::vector<Piece> pieces_of(std::span<const int> numbers) {
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < numbers.size();
         at += static_cast<std::size_t>(pieces.back().count))
        pieces.push_back(piece_at(numbers, at));
    return pieces;
}

std::string text_of(const std::vector<Piece>& pieces, std::string_view separator) {
    std::string text;
    for (const Piece& piece : pieces) {
        text += fmt::format("{}{}", text.empty() ? "" : separator, piece.first);
        if (piece.count > 1) text += fmt::format("-{}", piece.last());
        if (piece.step > 1) text += fmt::format(" step {}", piece.step);
    }
    return text;
}

/// Returns begin and end of every run of digits.
std::vector<std::pair<std::size_t, std::size_t>> digit_runs(std::string_view name) {
    std::vector<std::pair<std::size_t, std::size_t>> runs;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (!is_digit(name[i])) continue;
        const std::size_t begin = i;
        while (i < name.size() && is_digit(name[i])) ++i;
        runs.emplace_back(begin, i);
    }
    return runs;
}

/// Returns which number differs between the names; runs.size() if none or several do.
std::size_t differing_run(const std::vector<std::string_view>& names) {
    const auto of = [](std::string_view name, std::size_t run) {
        const auto [begin, end] = digit_runs(name)[run];
        return name.substr(begin, end - begin);
    };
    constexpr std::size_t most_runs = 8;
    const std::size_t count = digit_runs(names.front()).size();
    if (count > most_runs) return count;
    std::size_t differing = count;
    for (std::size_t run = 0; run < count; ++run) {
        const auto first = of(names.front(), run);
        const bool same = std::all_of(names.begin(), names.end(), [&](std::string_view name) {
            return of(name, run) == first;
        });
        if (same) continue;
        if (differing != count) return count;
        differing = run;
    }
    return differing;
}

/// Returns "01-03,07" for numbers of equal width with their zeros; empty if they are no such
/// numbers.
std::string number_range(const std::vector<std::string_view>& numbers) {
    constexpr std::int64_t most = 999'999'999;
    std::string text;
    const std::size_t width = numbers.front().size();
    const auto zeros = [&](std::string_view n) { return n.size() > 1 && n.front() == '0'; };
    const bool padded = std::any_of(numbers.begin(), numbers.end(), zeros);
    std::vector<int> values;
    for (const std::string_view number : numbers) {
        const auto value = parse_integer(number, 0, most);
        if (!value || (padded && number.size() != width)) return {};
        values.push_back(static_cast<int>(*value));
    }
    std::sort(values.begin(), values.end());
    for (const Piece& piece : pieces_of(values)) {
        const auto digits = padded ? static_cast<int>(width) : 1;
        for (int i = 0; i<piece.count; i += piece.step> 1 ? 1 : piece.count) {
            text += fmt::format("{}{:0{}}", text.empty() ? "" : ",", piece.first + i * piece.step,
                                digits);
            if (piece.step == 1 && piece.count > 1)
                text += fmt::format("-{:0{}}", piece.last(), digits);
        }
        if (text.size() > max_list_chars) return {};
    }
    return text;
}

/// Returns the value with four significant digits, and never with an exponent.
std::string four_digits(double value) {
    return value >= 9999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// Returns the value with three significant digits.
std::string three_digits(double value) {
    return value >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

std::string escaped_name(std::string_view name) {
    std::string out;
    for (const char c : name) {
        const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        if (c == '"' || c == '\\') out += '\\';
        out += control ? '?' : c;
    }
    return out;
}

std::string name_without_numbers(std::string_view name) {
    if (PciAddress::from(name)) return "\x01PCI";
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i)
        if (!is_digit(name[i]))
            out += name[i];
        else if (i == 0 || !is_digit(name[i - 1]))
            out += '#';
    return out;
}

std::string common_name(const std::vector<std::string_view>& names) {
    const std::string_view first = names.front();
    if (std::all_of(names.begin(), names.end(), [&](std::string_view n) { return n == first; }))
        return std::string(first);
    const std::string from_to = fmt::format("{} ... {}", first, names.back());
    if (PciAddress::from(first)) return from_to;
    const auto runs = digit_runs(first);
    const std::size_t run = differing_run(names);
    if (run == runs.size()) return from_to;
    std::vector<std::string_view> numbers;
    for (const std::string_view name : names) {
        const auto [begin, end] = digit_runs(name)[run];
        numbers.push_back(name.substr(begin, end - begin));
    }
    const std::string range = number_range(numbers);
    if (range.empty()) return from_to;
    return fmt::format("{}[{}]{}", first.substr(0, runs[run].first), range,
                       first.substr(runs[run].second));
}

std::string name_of_copies(std::string_view name) {
    if (PciAddress::from(name)) return "*";
    const auto runs = digit_runs(name);
    if (runs.empty()) return std::string(name);
    return fmt::format("{}*{}", name.substr(0, runs.back().first), name.substr(runs.back().second));
}

std::string number_list(std::span<const int> numbers) {
    const std::vector<Piece> pieces = pieces_of(numbers);
    if (pieces.size() <= max_pieces) return text_of(pieces, ", ");
    std::vector<int> sorted(numbers.begin(), numbers.end());
    std::sort(sorted.begin(), sorted.end());
    const std::vector<Piece> ascending = pieces_of(sorted);
    if (ascending.size() == pieces.size()) return text_of(pieces, ", ");
    return text_of(ascending, ", ") + " in another order";
}

std::string link_figures_text(const Uplink& link, std::string_view separator) {
    std::string out;
    if (link.bandwidth_gbytes_per_s > 0) out += four_digits(link.bandwidth_gbytes_per_s) + " GB/s";
    if (link.latency_us > 0)
        out += fmt::format("{}{} us", out.empty() ? "" : separator, four_digits(link.latency_us));
    return out;
}

std::string bytes_words(double bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < std::size(units)) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{} {}", three_digits(bytes), units[unit]);
}

std::string time_words(double us) {
    if (us >= 999.5e3) return three_digits(us / 1e6) + " s";
    return us >= 999.5 ? three_digits(us / 1e3) + " ms" : three_digits(us) + " us";
}

}  // namespace gradcoll
