// Bins of sizes, and file patterns.
#include <gtest/gtest.h>

#include <limits>

#include "report/file_pattern.hpp"
#include "report/size_bin.hpp"

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

const PatternFacts facts{"node7", 4711, 3};

TEST(FilePattern, HostProcessAndRankAreFilledIn) {
    const ExpandedPattern all = expand_pattern("/tmp/%h.%p.%r.json", facts);
    EXPECT_EQ(all.path, "/tmp/node7.4711.3.json");
    EXPECT_TRUE(all.has_rank);
    EXPECT_TRUE(all.has_process);
    EXPECT_TRUE(all.complaints.empty());
    const ExpandedPattern none = expand_pattern("%h.txt", facts);
    EXPECT_FALSE(none.has_rank);
    EXPECT_FALSE(none.has_process);
}

TEST(FilePattern, TwoPercentSignsAreOne) {
    const ExpandedPattern expanded = expand_pattern("100%%r%%", facts);
    EXPECT_EQ(expanded.path, "100%r%");
    EXPECT_FALSE(expanded.has_rank);
}

TEST(FilePattern, UnknownPlacesStayAndAreNamed) {
    const ExpandedPattern expanded = expand_pattern("a%xb%R%", facts);
    EXPECT_EQ(expanded.path, "a%xb%R%");
    ASSERT_EQ(expanded.complaints.size(), 3U);
    EXPECT_NE(expanded.complaints[0].find("%x"), std::string::npos);
    EXPECT_NE(expanded.complaints[0].find("%h"), std::string::npos);
}

TEST(FilePattern, ASlashInAHostNameMakesNoFolder) {
    EXPECT_EQ(expand_pattern("%h", {"../evil", 1, 0}).path, ".._evil");
}

TEST(FilePattern, RankIsAddedInFrontOfTheExtension) {
    EXPECT_EQ(with_rank("trace.json"), "trace.r%r.json");
    EXPECT_EQ(with_rank("out.d/trace"), "out.d/trace.r%r");
    EXPECT_EQ(with_rank("out/.hidden"), "out/.hidden.r%r");
    EXPECT_EQ(with_rank("t.%r.json"), "t.%r.json");
    EXPECT_EQ(with_rank("100%%r.json"), "100%%r.r%r.json");
    EXPECT_EQ(expand_pattern(with_rank("t.%p.json"), facts).path, "t.4711.r3.json");
}

}  // namespace
}  // namespace gradcoll
