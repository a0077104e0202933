#include "api/settings/compress_filter.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

Status bad_entry(OptionId id, std::string_view entry, std::string_view why) {
    return {Code::invalid_argument,
            fmt::format("entry '{}': {}; allowed: {}", printable(entry), why, info_of(id).allowed)};
}

/// Takes a leading '!' off. Whether there was none.
bool take_include(std::string_view& entry) {
    if (!entry.starts_with('!')) return true;
    entry = trimmed(entry.substr(1));
    return false;
}

/// Whether the last matching entry includes; with no match, what the list leaves for the rest.
template <class Entries, class Matches>
bool last_match(const Entries& entries, Matches&& matches) {
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
        if (matches(*entry)) return entry->include;
    return !entries.front().include;
}

/// Goes back to the last star only: an earlier one could not help where that one does not.
bool matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0, n = 0;
    std::optional<std::size_t> after_star;
    std::size_t star_ends = 0;  // letters up to here belong to what came before, and the star
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            after_star = ++p;
            star_ends = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (after_star) {
            p = *after_star;
            n = ++star_ends;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::optional<std::uint64_t> number_from(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return number;
}

}  // namespace

Result<NameFilter> NameFilter::parse(std::string_view text) {
    NameFilter filter;
    filter.entries_.clear();
    for (const std::string_view word : split_at_commas(text)) {
        std::string_view pattern = word;
        const bool include = take_include(pattern);
        if (pattern.empty())
            return bad_entry(OptionId::compress_comms, word, "a pattern is missing");
        filter.entries_.push_back({include, std::string(pattern)});
    }
    return filter;
}

bool NameFilter::allows(std::string_view name) const {
    return last_match(entries_, [&](const Entry& entry) { return matches(entry.pattern, name); });
}

Result<CallFilter::Entry> CallFilter::parse_entry(std::string_view text) {
    const auto bad = [&](std::string_view why) {
        return bad_entry(OptionId::compress_calls, text, why);
    };
    Entry entry;
    std::string_view numbers = text;
    entry.include = take_include(numbers);
    if (const std::size_t slash = numbers.find('/'); slash != std::string_view::npos) {
        const auto period = number_from(trimmed(numbers.substr(slash + 1)));
        if (!period || *period == 0) return bad("the period is no number from 1");
        entry.period = *period;
        entry.last = *period - 1;
        numbers = trimmed(numbers.substr(0, slash));
    }
    if (numbers == "all") return entry;
    const std::size_t dash = numbers.find('-');
    const auto first = number_from(trimmed(numbers.substr(0, dash)));
    if (!first) return bad("it begins with no number");
    const bool open = dash != std::string_view::npos && trimmed(numbers.substr(dash + 1)).empty();
    const auto last =
        dash == std::string_view::npos ? first : number_from(trimmed(numbers.substr(dash + 1)));
    if (!open && !last) return bad("it ends with no number");
    entry.first = *first;
    if (*first > entry.last || (!open && *last > entry.last))
        return bad("a number is not below its period");
    if (!open) entry.last = *last;
    if (entry.last < entry.first) return bad("it ends before it begins");
    return entry;
}

Result<CallFilter> CallFilter::parse(std::string_view text) {
    CallFilter filter;
    filter.entries_.clear();
    for (const std::string_view word : split_at_commas(text)) {
        const auto entry = parse_entry(word);
        if (!entry) return entry.status();
        filter.entries_.push_back(*entry);
    }
    return filter;
}

bool CallFilter::allows(std::uint64_t call) const {
    return last_match(entries_, [call](const Entry& entry) {
        const std::uint64_t number = entry.period == 0 ? call : call % entry.period;
        return number >= entry.first && number <= entry.last;
    });
}

}  // namespace gradcoll
