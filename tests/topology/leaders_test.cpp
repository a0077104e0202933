// tests/topology/leaders_test.cpp - trees of one rank on each host.
#include "topology/derived_trees.hpp"

#include <gtest/gtest.h>

#include "topology/text.hpp"

namespace gradcoll {
namespace {

Tree tree_of(std::string_view text, int ranks) {
    auto tree = tree_from_expression(text, ranks);
    EXPECT_TRUE(tree.ok()) << tree.status().message();
    return std::move(tree).value();
}

TEST(Leaders, AreNamedOnceInOrder) {
    EXPECT_EQ(leaders_in(std::vector{0, 0, 2, 2, 0, 5}), (std::vector{0, 2, 5}));
}

TEST(Leaders, TreeHasOneRankAHost) {
    const Tree tree = tree_of("(((0 1) (2 3 4)) (5 (6 7)))", 8);
    const auto leaders = tree_of_leaders(tree, std::vector{0, 0, 2, 2, 2, 5, 6, 6});
    ASSERT_TRUE(leaders.ok()) << leaders.status().message();
    EXPECT_EQ(expression_of(*leaders), "((0 1)(2 3))");
}

TEST(Leaders, RanksOfAHostNeedNoVertexOfTheirOwn) {
    const auto leaders = tree_of_leaders(tree_of("(0 1 2 3)", 4), std::vector{0, 1, 0, 1});
    ASSERT_TRUE(leaders.ok()) << leaders.status().message();
    EXPECT_EQ(expression_of(*leaders), "(0 1)");
}

TEST(Leaders, HostsAmongEachOtherHaveNone) {
    const auto leaders = tree_of_leaders(tree_of("((0 1) (2 3))", 4), std::vector{0, 1, 0, 3});
    ASSERT_FALSE(leaders.ok());
    EXPECT_EQ(leaders.status().code(), Code::unsupported);
}

/// A host may have parts, and its vertices may have other heights than those of other hosts.
TEST(Leaders, VerticesStandForThoseOfTheWholeTree) {
    const Tree tree = tree_of("((((0 1) (2 3)) 4) (5 6))", 7);
    const std::vector leader_of{0, 0, 0, 0, 4, 5, 5};
    const auto leaders = tree_of_leaders(tree, leader_of);
    ASSERT_TRUE(leaders.ok()) << leaders.status().message();
    ASSERT_EQ(expression_of(*leaders), "((0 1)2)");
    const auto whole = [&](int vertex) {
        return vertex_of_leaders(tree, *leaders, leaders_in(leader_of), vertex);
    };
    EXPECT_EQ(whole(leaders->root()), tree.root());
    EXPECT_EQ(whole(leaders->children(leaders->root())[0]), tree.children(tree.root())[0]);
}

}  // namespace
}  // namespace gradcoll
