// What the tests of gc_tolerance share: inputs, and what all ranks bring together.
#pragma once

#include <limits>

#include "api/api_support.hpp"

namespace gradcoll::test {

inline constexpr std::size_t lengths[] = {1, 511, 5000};

/// The value that a rank brings.
using Value = double (*)(int rank, std::size_t index);

inline double evenly(int rank, std::size_t index) {
    return value_at(rank, index);
}
/// Mostly small, now and then large.
inline double heavy_tailed(int rank, std::size_t index) {
    const double value = value_at(rank, index);
    return value / (1.0001 - std::abs(value));
}
inline double smooth(int rank, std::size_t index) {
    return 100 + std::sin(1e-3 * static_cast<double>(index) + rank);
}
inline double constant(int rank, std::size_t) {
    return rank + 0.1;
}
inline constexpr Value distributions[] = {evenly, heavy_tailed, smooth, constant};

template <class T>
MPI_Datatype datatype() {
    return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

template <class T>
std::vector<T> values_of(Value value, int rank, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(value(rank, i));
    return values;
}

/// What all ranks bring together.
template <class T>
struct Whole {
    std::vector<long double> sums;
    long double range = 0;
    long double magnitudes = 0;  ///< of one element's addends, at most
    int ranks;

    Whole(Value value, int rank_count, std::size_t count) : sums(count), ranks(rank_count) {
        long double lowest = HUGE_VALL, highest = -HUGE_VALL;
        for (int rank = 0; rank < ranks; ++rank)
            for (std::size_t i = 0; i < count; ++i) {
                const long double one = static_cast<T>(value(rank, i));
                sums[i] += one;
                lowest = std::min(lowest, one);
                highest = std::max(highest, one);
            }
        range = highest - lowest;
        magnitudes = ranks * std::max(std::abs(lowest), std::abs(highest));
    }
    /// ... at most.
    long double additions_lose() const {
        return (ranks - 1) * magnitudes * std::numeric_limits<T>::epsilon() / 2;
    }
};

}  // namespace gradcoll::test
