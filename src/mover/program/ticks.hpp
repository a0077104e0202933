// mover/program/ticks.hpp - time and sizes in whole numbers, so that planner and checker compute
// the same values to the last tick.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace gradcoll::mover {

/// A Tick is a nanosecond since the step began.
using Tick = std::int64_t;
inline constexpr Tick ticks_per_second = 1'000'000'000;

/// Longer operators and transfers (18 minutes) are treated as a mistake. Fewer than 2^22 of them
/// follow each other, so that sums of ticks fit.
inline constexpr Tick longest_ticks = Tick{1} << 40;
inline constexpr std::int64_t most_operators = std::int64_t{1} << 20;  ///< sum over all ranks
inline constexpr std::int64_t most_tensors = std::int64_t{1} << 21;    ///< sum over all ranks
/// One tensor, and one memory, has at most this many bytes.
inline constexpr std::int64_t most_bytes = std::int64_t{1} << 50;

/// Rounds up; a time that is too long becomes longest_ticks.
inline Tick ticks_of_seconds(double seconds) {
    const double ticks = std::ceil(seconds * static_cast<double>(ticks_per_second));
    return ticks < static_cast<double>(longest_ticks) ? static_cast<Tick>(std::max(ticks, 0.0))
                                                      : longest_ticks;
}

/// Returns the product of sizes, or 2 * most_bytes if it is larger: it is then too large anyway,
/// but can still be added to others. No factor is negative.
inline std::int64_t size_product(std::initializer_list<std::int64_t> factors) {
    std::int64_t product = 1;
    for (const std::int64_t factor : factors)
        if (__builtin_mul_overflow(product, factor, &product) || product > 2 * most_bytes) {
            if (std::find(factors.begin(), factors.end(), 0) != factors.end()) return 0;
            return 2 * most_bytes;
        }
    return product;
}

inline std::int64_t divided_up(std::int64_t value, std::int64_t divisor) {
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

/// A Lane carries bytes at a whole number of bytes a second, which may be a share of a link.
struct Lane {
    std::int64_t bytes_per_second = 1;
    Tick latency = 0;

    /// Returns the time that `bytes` take on it, rounded up.
    Tick ticks(std::int64_t bytes) const {
        const auto wide = static_cast<__int128>(bytes) * ticks_per_second;
        const __int128 on_the_way = (wide + bytes_per_second - 1) / bytes_per_second;
        return latency + static_cast<Tick>(std::min<__int128>(on_the_way, longest_ticks));
    }
};

}  // namespace gradcoll::mover
