// sizes.hpp - message sizes as people write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace gradcoll::bench {

/// "4096", "64K", "1M", "2G" (powers of 1024) to bytes; nothing if it is not such a size or does
/// not fit.
std::optional<std::size_t> parse_size(std::string_view text);

/// The sizes that -m names, ascending, each a multiple of `granule_bytes` and at least one granule:
/// "min:max" steps by a factor of two, "max" starts at one granule, "a,b,c" is a list. Nothing if
/// the text is none of these or min > max.
std::optional<std::vector<std::size_t>> parse_sizes(std::string_view text,
                                                    std::size_t granule_bytes);

}  // namespace gradcoll::bench
