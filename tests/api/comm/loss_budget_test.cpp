// What gc_tolerance leaves encodings: against additions that are as bad as they can be.
#include "api/comm/loss_budget.hpp"

#include <gtest/gtest.h>

#include "support/random_trees.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using Kind = ResultTolerance::Kind;

Tree tree_of(const char* expression, int ranks) {
    return tree_from_expression(expression, ranks).value();
}

TEST(LossBudget, OfARangeIsThatPartOfIt) {
    const Tree tree = Tree::flat(2);
    const Extent inputs{-1, 3};
    EXPECT_EQ(loss_budget_of({Kind::abs, 1e-2}, inputs, ElementType::f64, tree).tolerance, 1e-2);
    EXPECT_EQ(loss_budget_of({Kind::range, 1e-2}, inputs, ElementType::f64, tree).tolerance, 4e-2);
}

TEST(LossBudget, LeavesRoomForEveryAddition) {
    const Tree tree = Tree::flat(5);  // four additions of at most 5 x 3 together
    const double tolerance = 1e-3;
    const double additions = 4 * 0x1p-24 * 15;
    const LossBudget budget =
        loss_budget_of({Kind::abs, tolerance}, {-1, 3}, ElementType::f32, tree);
    EXPECT_LT(budget.for_encodings, tolerance - additions);
    EXPECT_GT(budget.for_encodings, (tolerance - additions) * (1 - 1e-5));
}

TEST(LossBudget, IsNothingWhereAdditionsAloneMayLoseMore) {
    const Tree tree = Tree::flat(5);
    EXPECT_EQ(loss_budget_of({Kind::abs, 1e-6}, {-1, 3}, ElementType::f32, tree).for_encodings, 0);
    EXPECT_GT(loss_budget_of({Kind::abs, 1e-6}, {-1, 3}, ElementType::f64, tree).for_encodings, 0);
    EXPECT_EQ(loss_budget_of({Kind::abs, 1e-2}, {-1, 3}, ElementType::bf16, tree).for_encodings, 0);
    EXPECT_EQ(loss_budget_of({Kind::range, 1e-2}, {2, 2}, ElementType::f32, tree).for_encodings, 0);
}

TEST(LossBudget, NothingOverflows) {
    const Tree tree = Tree::flat(4);
    const Extent huge{-1.7e308, 1.7e308};
    const LossBudget budget = loss_budget_of({Kind::range, 0.1}, huge, ElementType::f64, tree);
    EXPECT_EQ(budget.for_encodings, 0);
}

TEST(LongestChain, OfALopsidedTreeIsThatOfItsLongestWay) {
    EXPECT_EQ(longest_chain(Tree::flat(1)), 0);
    EXPECT_EQ(longest_chain(Tree::flat(7)), 6);
    EXPECT_EQ(longest_chain(tree_of("((0 1) (2 3 4))", 5)), 1 + 2);
    EXPECT_EQ(longest_chain(tree_of("((0 1 2) ((3 4) 5) 6)", 7)), 2 + 2);
}

TEST(LongestChain, InsideAHostRanksMayBeAddedInAnyOrder) {
    // Memory of the first host may add four ranks one after another, though its tree is two high.
    EXPECT_EQ(longest_chain(tree_of("switch(host(numa(0 1) numa(2 3)) host(4 5))", 6)), 1 + 3);
}

TEST(IsWorthEncoding, AsLongAsCodesAreShort) {
    const Extent unit{-0.5, 0.5};
    EXPECT_TRUE(is_worth_encoding(unit, ElementType::f32, 1e-4));
    EXPECT_TRUE(is_worth_encoding({1, 1}, ElementType::f32, 1e-30));
    EXPECT_FALSE(is_worth_encoding(unit, ElementType::f32, 0x1p-26));
    EXPECT_TRUE(is_worth_encoding(unit, ElementType::f64, 0x1p-26));
    EXPECT_FALSE(is_worth_encoding(unit, ElementType::f16, 1e-4));
    EXPECT_FALSE(is_worth_encoding(unit, ElementType::f32, 0));
}

}  // namespace
}  // namespace gradcoll
