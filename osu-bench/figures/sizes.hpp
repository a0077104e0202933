// sizes.hpp - message sizes and settings as people write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradcoll::bench {

/// Converts "4096", "64K", "1M", "2G" (powers of 1024) to bytes; returns nothing if the text is no
/// such size or does not fit.
std::optional<std::size_t> parse_size(std::string_view text);

/// Returns the sizes that -m names, ascending, each a multiple of `granule_bytes` and at least one
/// granule: "min:max" steps by a factor of two, "max" starts at one granule, "a,b,c" is a list.
/// Returns nothing if the text is none of these or min > max.
std::optional<std::vector<std::size_t>> parse_sizes(std::string_view text,
                                                    std::size_t granule_bytes);

/// Splits "KEY=VALUE"; returns nothing for any other text, or if there is no key.
std::optional<std::pair<std::string, std::string>> parse_setting(std::string_view text);

}  // namespace gradcoll::bench
