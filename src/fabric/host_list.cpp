// fabric/host_list.cpp - see host_list.hpp.
#include "fabric/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t max_digits = 18;  // every number of so many digits fits into 64 bits
constexpr std::size_t max_bytes = std::size_t{64} << 20;

bool is_name_char(char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f' && c != ',' && c != '[' && c != ']';
}

std::string padded(std::uint64_t value, std::size_t width) {
    return fmt::format("{:0{}}", value, width);
}

/// Choices are the texts that are possible at one place of a name.
using Choices = std::vector<std::string>;

class HostListReader {
  public:
    HostListReader(std::string_view text, std::size_t max_names)
        : text_(text), max_names_(max_names) {}

    Result<std::vector<std::string>> read() {
        do {
            GRADCOLL_TRY(entry());
        } while (taken(','));
        if (at_ < text_.size()) return unexpected("a letter or digit of a name, [ or ,");
        return std::move(names_);
    }

  private:
    /// Parses the rule entry := (letters | "[" ranges "]")+.
    Status entry() {
        const std::size_t begin = at_;
        std::vector<Choices> places;
        std::size_t count = 1;
        while (at_ < text_.size()) {
            if (is_name_char(text_[at_])) {
                places.push_back({std::string(letters())});
            } else if (text_[at_] == '[') {
                places.emplace_back();
                GRADCOLL_TRY(bracket(places.back(), (max_names_ - names_.size()) / count));
                count *= places.back().size();
            } else {
                break;
            }
        }
        if (places.empty()) return unexpected("a host name");
        return expand(places, count, begin);
    }

    std::string_view letters() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    /// Parses the rule bracket := "[" range ("," range)* "]".
    Status bracket(Choices& choices, std::size_t max_choices) {
        ++at_;
        do {
            GRADCOLL_TRY(range(choices, max_choices));
        } while (taken(','));
        return taken(']') ? Status() : unexpected("a digit, -, , or ]");
    }

    /// Parses the rule range := number ["-" number].
    Status range(Choices& choices, std::size_t max_choices) {
        const std::size_t begin = at_;
        std::uint64_t low = 0;
        GRADCOLL_TRY(number(low));
        const std::size_t width = at_ - begin;
        std::uint64_t high = low;
        if (taken('-')) {
            GRADCOLL_TRY(number(high));
            if (high < low)
                return wrong(begin, fmt::format("range {} runs backwards",
                                                text_.substr(begin, at_ - begin)));
        }
        if (high - low >= max_choices - std::min(choices.size(), max_choices))
            return wrong(begin, fmt::format("more than {} names", max_names_));
        for (std::uint64_t value = low; value <= high; ++value)
            choices.push_back(padded(value, width));
        return {};
    }

    Status number(std::uint64_t& value) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
        if (at_ == begin) return unexpected("a number");
        if (at_ - begin > max_digits)
            return wrong(begin, fmt::format("a number of more than {} digits", max_digits));
        std::from_chars(text_.data() + begin, text_.data() + at_, value);
        return {};
    }

    /// Adds every combination of the choices of all places; the last place varies fastest.
    Status expand(const std::vector<Choices>& places, std::size_t count, std::size_t begin) {
        std::size_t longest = 0;
        for (const Choices& choices : places)
            longest +=
                std::max_element(choices.begin(), choices.end(), [](const auto& a, const auto& b) {
                    return a.size() < b.size();
                })->size();
        if (longest > max_name_bytes)
            return wrong(begin, fmt::format("a name of more than {} bytes", max_name_bytes));
        if (count > max_names_ - names_.size())
            return wrong(begin, fmt::format("more than {} names", max_names_));
        if (count > (max_bytes - bytes_) / longest)
            return wrong(begin, fmt::format("more than {} MiB of names", max_bytes >> 20));
        bytes_ += count * longest;
        for (std::size_t i = 0; i < count; ++i) names_.push_back(name_number(places, i));
        return {};
    }

    static std::string name_number(const std::vector<Choices>& places, std::size_t i) {
        std::vector<std::size_t> chosen(places.size());
        for (std::size_t place = places.size(); place-- > 0;) {
            chosen[place] = i % places[place].size();
            i /= places[place].size();
        }
        std::string name;
        for (std::size_t place = 0; place < places.size(); ++place)
            name += places[place][chosen[place]];
        return name;
    }

    bool taken(char c) {
        const bool there = at_ < text_.size() && text_[at_] == c;
        at_ += there ? 1 : 0;
        return there;
    }

    Status unexpected(const std::string& expected) const {
        const std::string found =
            at_ < text_.size() ? fmt::format("\"{}\"", printable(text_.substr(at_, 1))) : "the end";
        return wrong(at_, fmt::format("found {}, expected {}", found, expected));
    }
    Status wrong(std::size_t offset, const std::string& what) const {
        return {Code::invalid_argument,
                fmt::format("host list \"{}\": column {}: {}", printable(text_), offset + 1, what)};
    }

    std::string_view text_;
    std::size_t max_names_;
    std::size_t at_ = 0;
    std::size_t bytes_ = 0;
    std::vector<std::string> names_;
};

/// A Series is names that differ in one number alone: what is before it, behind it, and the
/// numbers.
struct Series {
    std::string_view before, behind;
    std::vector<std::string_view> numbers;
};

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= max_digits &&
           std::all_of(text.begin(), text.end(), is_digit);
}

/// Returns the number in `name`, or an empty text if it is not part of the series.
std::string_view digits_in(const Series& series, std::string_view name) {
    if (name.size() <= series.before.size() + series.behind.size() ||
        !name.starts_with(series.before) || !name.ends_with(series.behind))
        return {};
    name.remove_prefix(series.before.size());
    name.remove_suffix(series.behind.size());
    return is_number(name) ? name : std::string_view();
}

/// Returns the series that two different names begin; without numbers if they begin none.
Series series_of(std::string_view a, std::string_view b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t before = 0, behind = 0;
    while (before < shorter && a[before] == b[before]) ++before;
    while (before > 0 && is_digit(a[before - 1])) --before;
    while (behind < shorter - before && a[a.size() - 1 - behind] == b[b.size() - 1 - behind])
        ++behind;
    while (behind > 0 && is_digit(a[a.size() - behind])) --behind;
    Series series{a.substr(0, before), a.substr(a.size() - behind), {}};
    const std::string_view first = digits_in(series, a);
    if (!first.empty() && !digits_in(series, b).empty()) series.numbers.push_back(first);
    return series;
}

std::uint64_t value_of(std::string_view number) {
    std::uint64_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    return value;
}

/// Returns a text such as "4-7,9".
std::string ranges_of(std::span<const std::string_view> numbers) {
    std::string out;
    for (std::size_t i = 0; i < numbers.size();) {
        const std::uint64_t low = value_of(numbers[i]);
        std::size_t length = 1;
        while (i + length < numbers.size() &&
               numbers[i + length] == padded(low + length, numbers[i].size()))
            ++length;
        out += fmt::format("{}{}", i > 0 ? "," : "", numbers[i]);
        if (length > 1) out += fmt::format("-{}", numbers[i + length - 1]);
        i += length;
    }
    return out;
}

}  // namespace

Result<std::vector<std::string>> names_of_host_list(std::string_view list, std::size_t max_names) {
    return HostListReader(list, max_names).read();
}

std::string host_list_of(std::span<const std::string> names) {
    std::string out;
    for (std::size_t i = 0; i < names.size();) {
        if (i > 0) out += ',';
        Series series;
        if (i + 1 < names.size()) series = series_of(names[i], names[i + 1]);
        if (series.numbers.empty()) {
            out += names[i++];
            continue;
        }
        for (++i; i < names.size(); ++i) {
            const std::string_view number = digits_in(series, names[i]);
            if (number.empty()) break;
            series.numbers.push_back(number);
        }
        out += fmt::format("{}[{}]{}", series.before, ranges_of(series.numbers), series.behind);
    }
    return out;
}

std::string hosts_in_words(std::span<const std::string> names) {
    constexpr std::size_t most_bytes_in_words = 160;
    std::string words = host_list_of(names);
    if (words.size() <= most_bytes_in_words) return words;
    words.resize(words.rfind(',', most_bytes_in_words) == std::string::npos
                     ? most_bytes_in_words
                     : words.rfind(',', most_bytes_in_words));
    return fmt::format("{},... ({} hosts)", words, names.size());
}

}  // namespace gradcoll
