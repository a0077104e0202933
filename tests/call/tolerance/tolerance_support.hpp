// What the tests of gc_tolerance share: inputs, and what all ranks bring together.
#pragma once

#include <limits>

#include "api/api_support.hpp"

namespace gradcoll::test {

inline constexpr std::size_t lengths[] = {1, 511, 5000};

/// Value returns the value that a rank contributes at an index.
using Value = double (*)(int rank, std::size_t index);

inline double evenly(int rank, std::size_t index) {
    return value_at(rank, index);
}
/// Returns values that are mostly small, now and then large.
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

/// Whole holds what the inputs of all ranks are together.
template <class T>
struct Whole {
    std::vector<long double> sums;
    long double range = 0;
    long double magnitudes = 0;  ///< sum of the magnitudes of one element's addends, at most
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
    /// Returns how much the additions lose, at most.
    long double additions_lose() const {
        return (ranks - 1) * magnitudes * std::numeric_limits<T>::epsilon() / 2;
    }
    /// Returns how far off a result of the type is at least, in elements from `first` to `end`. A
    /// wider type adds fp32; fp64 has none.
    long double at_best(std::size_t first, std::size_t end) const {
        if (std::is_same_v<T, double>) return additions_lose();
        long double farthest = 0;
        for (std::size_t i = first; i < end; ++i)
            farthest = std::max(farthest, std::abs(static_cast<T>(sums[i]) - sums[i]));
        return farthest;
    }
    long double at_best() const { return at_best(0, sums.size()); }
};

/// Returns values that add up to little. The functions below return values that lie far apart, or
/// are the same everywhere.
inline double cancelling(int rank, std::size_t index) {
    return (rank % 2 == 0 ? 1 : -1) * 1e4 * (1 + value_at(rank / 2, index));
}
inline double with_one_far_out(int rank, std::size_t index) {
    return rank == 0 && index == 7 ? 1000 : value_at(rank, index);
}
inline double far_apart(int rank, std::size_t index) {
    return value_at(rank, index) * std::pow(10.0, static_cast<double>(index % 13) - 6);
}
inline double seven(int, std::size_t) {
    return 7;
}
inline constexpr Value hard[] = {cancelling, with_one_far_out, far_apart, seven, constant};

}  // namespace gradcoll::test
