// reduce/grid_check.hpp - check words of sums on a grid (grid.hpp), which are added as its words
// are: those of a sum are the sums of those of its contributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reduce/grid.hpp"

namespace gradcoll {

/// So many words in a row, counted from the first, have a GridCheck.
inline constexpr std::size_t grid_check_words = 1024;

constexpr std::size_t grid_checks(std::size_t words) {
    return (words + grid_check_words - 1) / grid_check_words;
}

/// GridCheck is two sums of the words of a block, modulo 2^64. One word that is wrong changes the
/// first, and two that are wrong by as much the second.
struct GridCheck {
    std::int64_t plain = 0;     ///< the words, and what find_checks() adds of their tops
    std::int64_t weighted = 0;  ///< the first word, twice the second, three times the third, ...

    friend bool operator==(const GridCheck&, const GridCheck&) = default;
};

/// GridWords are words of a vector, from the first of a checked block on, with the tops of all
/// their blocks.
struct GridWords {
    std::span<const std::int64_t> words;
    std::span<const GridTop> tops;
    std::size_t words_per_top = grid_block_elems;
};

/// Writes the checks of words that `contributions` make together, grid_checks() of them. The tops
/// count as often: who has made words with other tops than the others has another check.
void find_checks(const GridWords& of, int contributions, GridCheck* checks);

}  // namespace gradcoll
