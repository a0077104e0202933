// Numbers as people read them.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/signal_text.hpp"

namespace gradcoll {
namespace {

constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();

TEST(Units, BytesAreWrittenForPeople) {
    EXPECT_EQ(bytes_text(0), "0");
    EXPECT_EQ(bytes_text(1023), "1023");
    EXPECT_EQ(bytes_text(1024), "1 KiB");
    EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    EXPECT_EQ(bytes_text(64 << 20), "64 MiB");
    EXPECT_EQ(bytes_text((1 << 20) - 1), "1.0 MiB");
    EXPECT_EQ(bytes_text(most_bytes), "16 EiB");
}

TEST(Units, SecondsAreWrittenForPeople) {
    EXPECT_EQ(seconds_text(0), "0");
    EXPECT_EQ(seconds_text(42e-9), "42 ns");
    EXPECT_EQ(seconds_text(1.21e-6), "1.2 us");
    EXPECT_EQ(seconds_text(0.0123), "12.3 ms");
    EXPECT_EQ(seconds_text(0.9999), "1.0 s");
    EXPECT_EQ(seconds_text(123.4), "123 s");
    EXPECT_EQ(seconds_text(-0.0123), "-12.3 ms");
    EXPECT_EQ(seconds_text(7200), "7200 s");
    EXPECT_EQ(seconds_text(-36000), "-10.0 h");
    EXPECT_EQ(seconds_text(720'000), "200 h");
}

TEST(Units, NothingIsWiderThanItsColumn) {
    for (std::uint64_t value = 1; value < (std::uint64_t{1} << 62); value = value * 3 / 2 + 1) {
        EXPECT_LE(bytes_text(value).size(), 8U) << value;
        EXPECT_LE(count_text(value).size(), 7U) << value;
    }
    for (double value = 1e-10; value < 1e8; value *= 1.5) {
        EXPECT_LE(seconds_text(value).size(), 7U) << value;
        EXPECT_LE(seconds_text(-value).size(), 8U) << value;
    }
}

TEST(Units, OneIsNotSeveral) {
    EXPECT_EQ(counted(1, "rank"), "1 rank");
    EXPECT_EQ(counted(0, "rank"), "0 ranks");
    EXPECT_EQ(counted(131072, "rank"), "131072 ranks");
}

TEST(Units, RanksAreNamedUntilThereAreMany) {
    const std::vector<int> ranks = {3, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    EXPECT_EQ(ranks_text(std::span(ranks).first(1)), "rank 3");
    EXPECT_EQ(ranks_text(std::span(ranks).first(2)), "ranks 3, 5");
    EXPECT_EQ(ranks_text(ranks), "ranks 3, 5, 6, 7, 8, 9, 10, 11 and 2 others");
}

TEST(SignalText, HasWhatFits) {
    SignalText text;
    text.add("since ")
        .add_seconds(12'460'000'000)
        .add(", ")
        .add(0)
        .add(" ")
        .add(std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(text.view(), "since 12.4 s, 0 18446744073709551615");
    for (int i = 0; i < 2000; ++i) text.add("abc");
    EXPECT_LT(text.view().size(), 4000U);
    EXPECT_TRUE(text.view().ends_with("abca") || text.view().ends_with("abcab") ||
                text.view().ends_with("abc"));
    text.clear();
    EXPECT_TRUE(text.view().empty());
}

}  // namespace
}  // namespace gradcoll
