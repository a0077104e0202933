// sizes.cpp - parses message sizes.
#include "sizes.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace gradcoll::bench {
namespace {

std::optional<unsigned> shift_of_suffix(std::string_view suffix) {
    if (suffix.empty()) {
        return 0u;
    }
    if (suffix.size() > 1) {
        return std::nullopt;
    }
    switch (suffix.front()) {
        case 'k':
        case 'K':
            return 10u;
        case 'm':
        case 'M':
            return 20u;
        case 'g':
        case 'G':
            return 30u;
        default:
            return std::nullopt;
    }
}

std::vector<std::size_t> doubling_sizes(std::size_t min, std::size_t max) {
    std::vector<std::size_t> sizes;
    for (std::size_t size = min; size <= max; size *= 2) {
        sizes.push_back(size);
        if (size > max / 2) {
            break;
        }
    }
    return sizes;
}

std::optional<std::vector<std::size_t>> parse_list(std::string_view text) {
    std::vector<std::size_t> sizes;
    while (true) {
        const std::size_t comma = text.find(',');
        const auto size = parse_size(text.substr(0, comma));
        if (!size) {
            return std::nullopt;
        }
        sizes.push_back(*size);
        if (comma == std::string_view::npos) {
            return sizes;
        }
        text.remove_prefix(comma + 1);
    }
}

std::optional<std::vector<std::size_t>> parse_range(std::string_view text,
                                                    std::size_t granule_bytes) {
    const std::size_t colon = text.find(':');
    const bool has_min = colon != std::string_view::npos;
    const auto min = has_min ? parse_size(text.substr(0, colon)) : std::optional(granule_bytes);
    const auto max = parse_size(has_min ? text.substr(colon + 1) : text);
    if (!min || !max || *min > *max) {
        return std::nullopt;
    }
    return doubling_sizes(std::max(*min, granule_bytes), *max);
}

}  // namespace

std::optional<std::size_t> parse_size(std::string_view text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    const auto shift = shift_of_suffix(text.substr(static_cast<std::size_t>(end - text.data())));
    if (!shift || number > (std::numeric_limits<std::size_t>::max() >> *shift)) {
        return std::nullopt;
    }
    return number << *shift;
}

std::optional<std::vector<std::size_t>> parse_sizes(std::string_view text,
                                                    std::size_t granule_bytes) {
    const bool is_list = text.find(',') != std::string_view::npos;
    auto sizes = is_list ? parse_list(text) : parse_range(text, granule_bytes);
    if (!sizes) {
        return std::nullopt;
    }
    for (std::size_t& size : *sizes) {
        size = std::max(size - size % granule_bytes, granule_bytes);
    }
    std::sort(sizes->begin(), sizes->end());
    sizes->erase(std::unique(sizes->begin(), sizes->end()), sizes->end());
    return sizes;
}

std::optional<std::pair<std::string, std::string>> parse_setting(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return {};
    return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

}  // namespace gradcoll::bench
