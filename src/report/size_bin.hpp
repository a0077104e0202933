// report/size_bin.hpp - calls are added up by size: 0, 1-63 bytes, then powers of 4 up to 1 GiB,
// and all above.
#pragma once

#include <cstdint>
#include <string>

namespace gradcoll {

inline constexpr int size_bin_count = 15;

int size_bin_of(std::uint64_t bytes);
/// Returns the smallest size of a bin.
std::uint64_t size_bin_begin(int bin);
/// Returns the smallest size above a bin; 0 for the last one, which has no end.
std::uint64_t size_bin_end(int bin);
/// Returns a label such as "0", "1-63", "64-255", "256-1K", "1K-4K", ... "1G+": the end is not
/// included where it has a unit.
std::string size_bin_label(int bin);

}  // namespace gradcoll
