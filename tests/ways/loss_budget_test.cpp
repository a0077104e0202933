// What gc_tolerance leaves encodings is compared with additions that are as bad as they can be.
#include "ways/loss_budget.hpp"

#include <gtest/gtest.h>

#include "support/random_trees.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using Kind = ResultTolerance::Kind;

Tree tree_of(const char* expression, int ranks) {
    return tree_from_expression(expression, ranks).value();
}

SumFacts flat(int ranks, ElementType type) {
    return {type, ranks, longest_chain(Tree::flat(ranks))};
}

TEST(LossBudget, OfARangeIsThatPartOfIt) {
    const Extent inputs{-1, 3};
    const SumFacts sum = flat(2, ElementType::f64);
    EXPECT_EQ(loss_budget_of({Kind::abs, 1e-2}, inputs, sum).tolerance, 1e-2);
    EXPECT_EQ(loss_budget_of({Kind::range, 1e-2}, inputs, sum).tolerance, 4e-2);
}

TEST(LossBudget, LeavesRoomForEveryAddition) {
    const double tolerance = 1e-3;  // the sum takes four additions of at most 5 x 3 together
    const double additions = 4 * 0x1p-24 * 15;
    const LossBudget budget =
        loss_budget_of({Kind::abs, tolerance}, {-1, 3}, flat(5, ElementType::f32));
    EXPECT_EQ(budget.added_in, ElementType::f32);
    EXPECT_TRUE(budget.is_sure);
    EXPECT_LT(budget.for_encodings, tolerance - additions);
    EXPECT_GT(budget.for_encodings, (tolerance - additions) * (1 - 1e-5));
}

/// One value far out leaves the additions of its own type nothing, and those of the next much.
TEST(LossBudget, TakesTheWiderTypeWhereAdditionsTakeTooMuch) {
    const Extent inputs{-1, 1000};
    const LossBudget budget = loss_budget_of({Kind::abs, 1e-2}, inputs, flat(16, ElementType::f32));
    EXPECT_EQ(budget.added_in, ElementType::f64);
    EXPECT_TRUE(budget.is_sure);
    EXPECT_GT(budget.for_encodings, 0.9e-2);
    EXPECT_LT(budget.off_before_rounding() + 0x1p-24 * 16'000, 1e-2);
}

/// Where the last rounding might be off by too much the result shows whether it is.
TEST(LossBudget, IsNotSureWhereOnlyTheResultShows) {
    const LossBudget budget =
        loss_budget_of({Kind::abs, 0.05}, {-4, 4}, flat(8, ElementType::bf16));
    EXPECT_EQ(budget.added_in, ElementType::f32);
    EXPECT_FALSE(budget.is_sure);
    EXPECT_NEAR(budget.for_encodings, 0.025, 1e-4);
}

/// 1e5 is rounded by 2^-8 at most, in whatever sum up to 2^17.
TEST(LossBudget, LeavesWhatTheLikelyLastRoundingDoesNotTake) {
    const Extent inputs{-1, 1e5};
    const SumFacts floats = flat(16, ElementType::f32);
    const LossBudget half = loss_budget_of({Kind::abs, 1e-2}, inputs, floats);
    EXPECT_FALSE(half.is_sure);
    EXPECT_NEAR(half.for_encodings, 5e-3, 1e-6);
    EXPECT_NEAR(loss_budget_of({Kind::abs, 5e-3}, inputs, floats).for_encodings, 5e-3 - 0x1p-8,
                1e-6);
    EXPECT_EQ(loss_budget_of({Kind::abs, 4e-3}, inputs, floats).for_encodings, 0);
}

TEST(LossBudget, IsNothingWhereAdditionsAloneMayLoseMore) {
    const Extent inputs{-1, 3};
    const SumFacts doubles = flat(5, ElementType::f64);
    EXPECT_EQ(loss_budget_of({Kind::abs, 1e-15}, inputs, doubles).for_encodings, 0);
    EXPECT_GT(loss_budget_of({Kind::abs, 1e-6}, inputs, doubles).for_encodings, 0);
    const SumFacts floats = flat(5, ElementType::f32);
    EXPECT_EQ(loss_budget_of({Kind::range, 1e-2}, {2, 2}, floats).for_encodings, 0);
}

TEST(LossBudget, NothingOverflows) {
    const Extent huge{-1.7e308, 1.7e308};
    const SumFacts doubles = flat(4, ElementType::f64);
    const LossBudget budget = loss_budget_of({Kind::range, 0.1}, huge, doubles);
    EXPECT_EQ(budget.for_encodings, 0);
    EXPECT_FALSE(exact_budget_of({Kind::range, 0.1}, huge, doubles).is_sure);
}

/// What encodings lose must not push a sum over the end of its type, nor partial sums.
TEST(LossBudget, KnowsTheEndOfTheType) {
    const Extent near_end{-1e38, 1.6e38};
    const SumFacts two = flat(2, ElementType::f32);
    EXPECT_EQ(loss_budget_of({Kind::abs, 1e36}, near_end, two).added_in, ElementType::f32);
    const LossBudget over = loss_budget_of({Kind::abs, 4e37}, near_end, two);
    EXPECT_EQ(over.added_in, ElementType::f64);
    EXPECT_FALSE(over.is_sure);
    EXPECT_EQ(exact_budget_of({Kind::abs, 1}, {-40000, 40000}, flat(4, ElementType::f16)).added_in,
              ElementType::f32);
}

TEST(ExactBudget, StaysInItsTypeWhereThatKeepsIt) {
    const SumFacts floats = flat(4, ElementType::f32);
    EXPECT_EQ(exact_budget_of({Kind::abs, 1e-3}, {-5, 5}, floats).added_in, ElementType::f32);
    const LossBudget wide = exact_budget_of({Kind::abs, 1e-3}, {-1e5, 1e5}, floats);
    EXPECT_EQ(wide.added_in, ElementType::f64);
    EXPECT_FALSE(wide.is_sure);
}

TEST(AddsExactly, WhereAllPartialSumsHaveTheDigits) {
    const SumFacts floats = flat(5, ElementType::f32);
    LossBudget budget = exact_budget_of({Kind::range, 1e-3}, {7, 7}, floats);
    EXPECT_EQ(budget.added_in, ElementType::f64);
    EXPECT_GT(budget.additions, budget.tolerance);
    EXPECT_TRUE(adds_exactly(budget, {7, 7}, floats, 0));
    EXPECT_TRUE(adds_exactly(budget, {7, 7}, floats, -40));
    EXPECT_FALSE(adds_exactly(budget, {7, 7}, floats, -50));
    EXPECT_FALSE(adds_exactly(budget, {1e20, 1e20}, floats, 0));
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
