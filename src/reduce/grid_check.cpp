#include "reduce/grid_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/hash.hpp"

namespace gradcoll {
namespace {

/// A Lane has as many words as every CPU adds at once; some side by side hide how long that takes.
using Lane [[gnu::vector_size(2 * sizeof(std::uint64_t))]] = std::uint64_t;
constexpr std::size_t lanes_a_row = 4;
constexpr std::size_t row_words = 2 * lanes_a_row;

/// Sums hold a GridCheck while it is made: unsigned, as it wraps.
struct Sums {
    std::uint64_t plain = 0, weighted = 0;

    void add(std::uint64_t word, std::uint64_t weight) {
        plain += word;
        weighted += weight * word;
    }
};

/// Adds rows of words. Adding up the sums after each row weighs the first row most, so that the
/// weights that words have by their rows take no multiplication.
Sums sums_of(std::span<const std::int64_t> words) {
    const std::size_t rows = words.size() / row_words;
    std::array<Lane, lanes_a_row> plain{}, of_sums{};
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t lane = 0; lane < lanes_a_row; ++lane) {
            Lane these;
            std::memcpy(&these, words.data() + row * row_words + 2 * lane, sizeof these);
            plain[lane] += these;
            of_sums[lane] += plain[lane];
        }
    Sums sums;
    for (std::size_t i = 0; i < row_words; ++i) {
        const std::uint64_t in_column = plain[i / 2][i % 2];
        sums.add(in_column, i + 1);
        sums.weighted += row_words * (rows * in_column - of_sums[i / 2][i % 2]);
    }
    for (std::size_t i = rows * row_words; i < words.size(); ++i)
        sums.add(static_cast<std::uint64_t>(words[i]), i + 1);
    return sums;
}

std::uint64_t number_of(std::span<const GridTop> tops) {
    std::uint64_t number = 0;
    for (const GridTop& top : tops)
        number = scrambled(number + (std::uint64_t{top.top} << 16 | top.has_specials));
    return number;
}

}  // namespace

void find_checks(const GridWords& of, int contributions, GridCheck* checks) {
    const std::size_t tops_a_check = grid_check_words / of.words_per_top;
    for (std::size_t check = 0; check < grid_checks(of.words.size()); ++check) {
        const std::size_t first = check * grid_check_words;
        const std::size_t first_top = check * tops_a_check;
        Sums sums =
            sums_of(of.words.subspan(first, std::min(grid_check_words, of.words.size() - first)));
        sums.plain += static_cast<std::uint64_t>(contributions) *
                      number_of(of.tops.subspan(
                          first_top, std::min(tops_a_check, of.tops.size() - first_top)));
        checks[check] = {static_cast<std::int64_t>(sums.plain),
                         static_cast<std::int64_t>(sums.weighted)};
    }
}

}  // namespace gradcoll
