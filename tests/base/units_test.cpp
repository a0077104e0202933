// Numbers as people read them.
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <limits>

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

}  // namespace
}  // namespace gradcoll
