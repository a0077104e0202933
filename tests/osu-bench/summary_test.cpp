// What many ratios say together.
#include "summary.hpp"

#include <gtest/gtest.h>

#include "row.hpp"

namespace gradcoll::bench {
namespace {

TEST(BenchSpread, QuartilesLieBetweenTheSortedValues) {
    const Spread spread = spread_of({4, 1, 3, 2});
    EXPECT_DOUBLE_EQ(spread.min, 1);
    EXPECT_DOUBLE_EQ(spread.lower_quartile, 1.75);
    EXPECT_DOUBLE_EQ(spread.median, 2.5);
    EXPECT_DOUBLE_EQ(spread.upper_quartile, 3.25);
    EXPECT_DOUBLE_EQ(spread.max, 4);
}

TEST(BenchSpread, OfOneValueIsThatValue) {
    const Spread spread = spread_of({7});
    EXPECT_DOUBLE_EQ(spread.min, 7);
    EXPECT_DOUBLE_EQ(spread.lower_quartile, 7);
    EXPECT_DOUBLE_EQ(spread.median, 7);
    EXPECT_DOUBLE_EQ(spread.max, 7);
}

TEST(BenchSummary, TwiceAsFastAndTwiceAsSlowAreADraw) {
    const Summary summary = summary_of({{4, 2.0}, {8, 0.5}});
    EXPECT_DOUBLE_EQ(summary.geometric_mean, 1);
    EXPECT_EQ(summary.worst.size_bytes, 8u);
    EXPECT_DOUBLE_EQ(summary.worst.ratio, 0.5);
    EXPECT_EQ(summary.losses, 1u);
}

TEST(BenchSummary, ALossIsWhatIsBelowTheLineNotOnIt) {
    EXPECT_EQ(summary_of({{4, 0.95}, {8, 0.9499}, {16, 1.5}}).losses, 1u);
}

TEST(BenchSummary, SaysSizeAndRatioOfTheWorst) {
    EXPECT_EQ(text_of(summary_of({{4, 2.0}, {8, 0.5}})),
              "2 sizes, geometric mean 1.00, worst 0.50 at 8 bytes, 1 below 0.95");
}

TEST(BenchSummary, OfRowsTakesTheMedianOverTheRepeats) {
    Row row;
    row.size_bytes = 16;
    row.ratio = spread_of({1, 5, 3});
    const std::vector<SizeRatio> ratios = ratios_of({row});
    ASSERT_EQ(ratios.size(), 1u);
    EXPECT_EQ(ratios[0].size_bytes, 16u);
    EXPECT_DOUBLE_EQ(ratios[0].ratio, 3);
}

}  // namespace
}  // namespace gradcoll::bench
