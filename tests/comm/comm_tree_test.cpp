// tests/comm/comm_tree_test.cpp - what was assumed about the machine is told once.
#include "comm/comm_tree.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

DiscoveredTree tree_with(std::vector<std::string> notes, int rank_count) {
    return {Tree::flat(rank_count), "origin", std::move(notes)};
}

std::string told(const DiscoveredTree& tree, const std::string& topology, int rank) {
    testing::internal::CaptureStderr();
    tell_notes(tree, topology, rank);
    return testing::internal::GetCapturedStderr();
}

TEST(TreeNotes, RankZeroWarnsOfEach) {
    const std::string text = told(tree_with({"first", "second"}, 4), "a", 0);
    EXPECT_NE(text.find("warn: GC_TOPOLOGY: first\n"), std::string::npos) << text;
    EXPECT_NE(text.find("warn: GC_TOPOLOGY: second\n"), std::string::npos) << text;
    EXPECT_EQ(told(tree_with({"first"}, 4), "b", 1), "");
}

TEST(TreeNotes, DerivedCommunicatorsStayQuiet) {
    EXPECT_EQ(told(tree_with({"note"}, 4), "c", 3), "");  // rank 0 of all has warned
    EXPECT_EQ(told(tree_with({"note"}, 2), "c", 0), "");  // rank 3 of all is rank 0 here
    EXPECT_EQ(told(tree_with({"note"}, 4), "c", 0), "");
    EXPECT_NE(told(tree_with({"note"}, 5), "c", 0), "");  // this one is not part of it
    EXPECT_NE(told(tree_with({"note"}, 2), "d", 0), "");  // this is another topology
}

TEST(TreeNotes, CommunicatorsWithoutNotesSayNothing) {
    EXPECT_EQ(told(tree_with({}, 8), "e", 0), "");
    EXPECT_NE(told(tree_with({"note"}, 4), "e", 0), "");
}

TEST(TreeNotes, StandBehindTheOrigin) {
    EXPECT_EQ(told_origin(tree_with({}, 2)), "origin");
    EXPECT_EQ(told_origin(tree_with({"one", "two"}, 2)), "origin; one; two");
}

}  // namespace
}  // namespace gradcoll
