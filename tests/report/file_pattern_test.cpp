#include "report/file_pattern.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

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
