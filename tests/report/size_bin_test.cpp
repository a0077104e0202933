// The bins of sizes that calls are added up by.
#include <gtest/gtest.h>

#include <limits>

#include "report/rows.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();

TEST(SizeBin, BinsFollowOneAnotherWithoutGaps) {
    EXPECT_EQ(size_bin_begin(0), 0U);
    for (int bin = 0; bin < size_bin_count; ++bin) {
        const std::uint64_t end = size_bin_end(bin);
        EXPECT_EQ(size_bin_of(size_bin_begin(bin)), bin);
        if (bin + 1 == size_bin_count) {
            EXPECT_EQ(end, 0U);
            EXPECT_EQ(size_bin_of(most_bytes), bin);
        } else {
            EXPECT_EQ(size_bin_begin(bin + 1), end);
            EXPECT_EQ(size_bin_of(end - 1), bin);
            EXPECT_EQ(size_bin_of(end), bin + 1);
        }
    }
}

TEST(SizeBin, BoundsArePowersOfFour) {
    EXPECT_EQ(size_bin_of(0), 0);
    EXPECT_EQ(size_bin_of(1), 1);
    EXPECT_EQ(size_bin_end(1), 64U);
    for (int bin = 3; bin < size_bin_count; ++bin)
        EXPECT_EQ(size_bin_begin(bin), 4 * size_bin_begin(bin - 1));
    EXPECT_EQ(size_bin_begin(size_bin_count - 1), std::uint64_t{1} << 30);
}

TEST(SizeBin, LabelsAreShort) {
    EXPECT_EQ(size_bin_label(0), "0");
    EXPECT_EQ(size_bin_label(1), "1-63");
    EXPECT_EQ(size_bin_label(2), "64-255");
    EXPECT_EQ(size_bin_label(3), "256-1K");
    EXPECT_EQ(size_bin_label(size_bin_of(100'000)), "64K-256K");
    EXPECT_EQ(size_bin_label(size_bin_count - 2), "256M-1G");
    EXPECT_EQ(size_bin_label(size_bin_count - 1), "1G+");
    for (int bin = 0; bin < size_bin_count; ++bin) EXPECT_LE(size_bin_label(bin).size(), 8U);
}

}  // namespace
}  // namespace gradcoll
