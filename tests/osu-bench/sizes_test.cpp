// What -m accepts.
#include "sizes.hpp"

#include <gtest/gtest.h>

namespace gradcoll::bench {
namespace {

using Sizes = std::vector<std::size_t>;

TEST(BenchSizes, SuffixesArePowersOf1024) {
    EXPECT_EQ(parse_size("17"), 17u);
    EXPECT_EQ(parse_size("2k"), 2048u);
    EXPECT_EQ(parse_size("3M"), 3u << 20);
    EXPECT_EQ(parse_size("5G"), std::size_t{5} << 30);
}

TEST(BenchSizes, RefuseWhatIsNoSize) {
    for (const char* text :
         {"", "K", "-1", "1T", "1KK", "1 K", "0x10", "99999999999999999999", "17179869184G"}) {
        EXPECT_FALSE(parse_size(text).has_value()) << text;
    }
}

TEST(BenchSizes, RangeDoublesUpToItsMaximum) {
    EXPECT_EQ(parse_sizes("1K:4K", 4), (Sizes{1024, 2048, 4096}));
    EXPECT_EQ(parse_sizes("1K:5K", 4), (Sizes{1024, 2048, 4096}));
    EXPECT_EQ(parse_sizes("16", 8), (Sizes{8, 16}));
}

TEST(BenchSizes, ListIsSortedRoundedToElementsAndWithoutRepeats) {
    EXPECT_EQ(parse_sizes("64,8,9,1", 8), (Sizes{8, 64}));
}

TEST(BenchSizes, LargestSizesDoNotOverflow) {
    const auto sizes = parse_sizes("8E:9E", 4);
    EXPECT_FALSE(sizes.has_value());
    EXPECT_EQ(parse_sizes("9223372036854775808:18446744073709551612", 4),
              (Sizes{std::size_t{1} << 63}));
}

TEST(BenchSizes, RefuseRangesThatAreNone) {
    for (const char* text : {"", ":", "4:", ":4", "8:4", "1,,2", "1,", "a:b"}) {
        EXPECT_FALSE(parse_sizes(text, 4).has_value()) << text;
    }
}

}  // namespace
}  // namespace gradcoll::bench
