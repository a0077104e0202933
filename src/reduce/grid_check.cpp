#include "reduce/grid_check.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t lane_count = 8;
using Lanes [[gnu::vector_size(lane_count * sizeof(std::uint64_t))]] = std::uint64_t;

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
    const std::size_t rows = words.size() / lane_count;
    Lanes plain{}, of_sums{};
    for (std::size_t row = 0; row < rows; ++row) {
        Lanes these;
        std::memcpy(&these, words.data() + row * lane_count, sizeof these);
        plain += these;
        of_sums += plain;
    }
    Sums sums;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
        sums.add(plain[lane], lane + 1);
        sums.weighted += lane_count * (rows * plain[lane] - of_sums[lane]);
    }
    for (std::size_t i = rows * lane_count; i < words.size(); ++i)
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
