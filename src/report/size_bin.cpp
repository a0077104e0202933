#include "report/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gradcoll {
namespace {

/// Bin 2 begins with 64 bytes.
constexpr int first_shift = 6;

constexpr int shift_of(int bin) {
    return first_shift + 2 * (bin - 2);
}

std::string short_bytes(std::uint64_t bytes) {
    constexpr const char* units[] = {"", "K", "M", "G"};
    int unit = 0;
    while (bytes >= 1024) {
        bytes /= 1024;
        ++unit;
    }
    return fmt::format("{}{}", bytes, units[unit]);
}

}  // namespace

int size_bin_of(std::uint64_t bytes) {
    if (bytes == 0) return 0;
    const int log2 = static_cast<int>(std::bit_width(bytes)) - 1;
    if (log2 < first_shift) return 1;
    return std::min(2 + (log2 - first_shift) / 2, size_bin_count - 1);
}

std::uint64_t size_bin_begin(int bin) {
    if (bin < 2) return static_cast<std::uint64_t>(bin);
    return std::uint64_t{1} << shift_of(bin);
}

std::uint64_t size_bin_end(int bin) {
    return bin + 1 < size_bin_count ? size_bin_begin(bin + 1) : 0;
}

std::string size_bin_label(int bin) {
    if (bin == 0) return "0";
    const std::uint64_t begin = size_bin_begin(bin);
    const std::uint64_t end = size_bin_end(bin);
    if (end == 0) return short_bytes(begin) + "+";
    if (end < 1024) return fmt::format("{}-{}", begin, end - 1);
    return fmt::format("{}-{}", short_bytes(begin), short_bytes(end));
}

}  // namespace gradcoll
