// Check words against sums by definition.
#include "reduce/grid_check.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gradcoll {
namespace {

TEST(GridCheck, WordsCountOnceAndByTheirPlace) {
    std::mt19937_64 random(1);
    for (const std::size_t count : {1, 7, 8, 9, 1000, 1024, 1025, 3000}) {
        std::vector<std::int64_t> words(count);
        for (auto& word : words) word = static_cast<std::int64_t>(random());
        const std::vector<GridTop> tops(grid_blocks(count));
        std::vector<GridCheck> checks(grid_checks(count));
        find_checks({words, tops}, 0, checks.data());
        for (std::size_t block = 0; block < checks.size(); ++block) {
            std::uint64_t plain = 0, weighted = 0;
            for (std::size_t i = 0; i < 1024 && block * 1024 + i < count; ++i) {
                const auto word = static_cast<std::uint64_t>(words[block * 1024 + i]);
                plain += word;
                weighted += (i + 1) * word;
            }
            EXPECT_EQ(static_cast<std::uint64_t>(checks[block].plain), plain);
            EXPECT_EQ(static_cast<std::uint64_t>(checks[block].weighted), weighted);
        }
    }
}

/// The plain sum does not see it where two words change places; the weighted one does.
TEST(GridCheck, WordsThatChangePlacesAreSeen) {
    const std::vector<std::int64_t> words{5, 9, 1}, swapped{9, 5, 1};
    const std::vector<GridTop> tops(1);
    GridCheck a, b;
    find_checks({words, tops}, 1, &a);
    find_checks({swapped, tops}, 1, &b);
    EXPECT_EQ(a.plain, b.plain);
    EXPECT_NE(a.weighted, b.weighted);
}

TEST(GridCheck, TopsCountOnceForEachContribution) {
    const std::vector<std::int64_t> words(2000);
    std::vector<GridTop> tops(8);
    std::vector<GridCheck> once(2), thrice(2), other(2);
    find_checks({words, tops}, 1, once.data());
    find_checks({words, tops}, 3, thrice.data());
    EXPECT_EQ(static_cast<std::uint64_t>(thrice[0].plain),
              3 * static_cast<std::uint64_t>(once[0].plain));
    tops[5].top = 7;
    find_checks({words, tops}, 1, other.data());
    EXPECT_EQ(other[0], once[0]);
    EXPECT_NE(other[1], once[1]);
}

}  // namespace
}  // namespace gradcoll
