#include "settings/compress_filter.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <locale.h>

#include <optional>

#include "base/options.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

Status bad_entry(OptionId id, std::string_view entry, std::string_view why) {
    return {Code::invalid_argument,
            fmt::format("entry '{}': {}; allowed: {}", printable(entry), why, info_of(id).allowed)};
}

/// Takes a leading '!' off. Returns whether there was none.
bool take_include(std::string_view& entry) {
    if (!entry.starts_with('!')) return true;
    entry = trimmed(entry.substr(1));
    return false;
}

/// Returns whether the last matching entry includes; if none matches, what the list leaves for the
/// rest.
template <class Entries, class Matches>
bool last_match(const Entries& entries, Matches&& matches) {
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
        if (matches(*entry)) return entry->include;
    return !entries.front().include;
}

/// Compares in the C locale: by bytes, and alike on ranks whose environments differ.
bool matches(const std::string& pattern, const std::string& name) {
    if (pattern == "*") return true;  // the default, asked at every call
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    const locale_t before = uselocale(c_locale);
    const bool matched = fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
    uselocale(before);
    return matched;
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

bool NameFilter::allows(const std::string& name) const {
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
        const auto period = number_from<std::uint64_t>(trimmed(numbers.substr(slash + 1)));
        if (!period || *period == 0) return bad("the period is no number from 1");
        entry.period = *period;
        entry.last = *period - 1;
        numbers = trimmed(numbers.substr(0, slash));
    }
    if (numbers == "all") return entry;
    const std::size_t dash = numbers.find('-');
    const auto first = number_from<std::uint64_t>(trimmed(numbers.substr(0, dash)));
    if (!first) return bad("it begins with no number");
    const bool open = dash != std::string_view::npos && trimmed(numbers.substr(dash + 1)).empty();
    const auto last = dash == std::string_view::npos
                          ? first
                          : number_from<std::uint64_t>(trimmed(numbers.substr(dash + 1)));
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
