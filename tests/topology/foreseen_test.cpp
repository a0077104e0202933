// tests/topology/foreseen_test.cpp - trees of ranks that do not exist: written ones, described
// ones, and this machine's.
#include "topology/sources/job/foreseen.hpp"

#include <gtest/gtest.h>

#include <string>

#include "topology/sources/host/this_machine.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

std::string shape_of(const std::string& written, int rank_count) {
    const auto tree = foreseen_tree(written, rank_count);
    return tree.ok() ? expression_of(tree->tree) : tree.status().message();
}

TEST(ForeseenTree, AWrittenTreeHasTheRanksThatItNames) {
    EXPECT_EQ(shape_of("((0 1) (2 3 4))", 0), "((0 1)(2-4))");
    EXPECT_EQ(shape_of("((0 1) (2 3 4))", 5), "((0 1)(2-4))");
    EXPECT_EQ(foreseen_tree("((0 1) (2 3 4))", 4).status().code(), Code::invalid_argument);
}

TEST(ForeseenTree, AFlatTreeHasAsManyAsAsked) {
    EXPECT_EQ(shape_of("flat", 3), "(0-2)");
    EXPECT_EQ(foreseen_tree("flat", 0)->tree.rank_count(), 1);
}

TEST(ForeseenTree, RanksAreDealtToTheCoresOfADescribedHost) {
    EXPECT_EQ(shape_of("synthetic:pack:2 core:2 pu:1", 4), "((0 1)(2 3))");
    EXPECT_EQ(shape_of("synthetic:pack:2 core:2 pu:1", 6), "(((0 4)(1 5))(2 3))");
    EXPECT_EQ(shape_of("synthetic:pack:2 core:2 pu:1", 0), "((0 1)(2 3))");
    EXPECT_EQ(shape_of("synthetic:core:1 pu:1", 0), "0");
    const auto tree = foreseen_tree("synthetic:pack:2 core:2 pu:1", 4);
    EXPECT_NE(tree->origin.find("assumed: all 4 ranks on this host"), std::string::npos)
        << tree->origin;
}

/// The shape depends on what hwloc shows; the test checks that every rank is there, and the note on
/// what was assumed.
TEST(ForeseenTree, OnThisMachineRanksAreBoundToCoresOrNotAtAll) {
    const auto cores = this_machine_core_paths();
    ASSERT_TRUE(cores.ok()) << cores.status().message();
    const int core_count = static_cast<int>(cores->size());
    const auto bound = foreseen_tree("discover", core_count);
    ASSERT_TRUE(bound.ok()) << bound.status().message();
    EXPECT_EQ(bound->tree.rank_count(), core_count);
    EXPECT_NE(bound->origin.find("bound one to a core"), std::string::npos) << bound->origin;
    const auto crowded = foreseen_tree("discover", core_count + 1);
    ASSERT_TRUE(crowded.ok()) << crowded.status().message();
    EXPECT_EQ(expression_of(crowded->tree), expression_of(Tree::flat(core_count + 1)));
    EXPECT_NE(crowded->origin.find("not bound"), std::string::npos) << crowded->origin;
}

TEST(ForeseenTree, ImpossibleCountsAndTextsAreNamed) {
    EXPECT_NE(shape_of("flat", -1).find("ranks is -1; allowed are 0 to"), std::string::npos);
    EXPECT_NE(shape_of("flat", max_tree_ranks + 1).find("allowed are 0 to"), std::string::npos);
    EXPECT_NE(shape_of("treee", 2).find("treee"), std::string::npos);
    EXPECT_NE(shape_of("json:/nonexistent.json", 2).find("/nonexistent.json"), std::string::npos);
}

}  // namespace
}  // namespace gradcoll
