// tests/collectives/scale_test.cpp - plans among 131,072 ranks: what one rank holds does not grow
// with the others.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "collectives/build/planner.hpp"
#include "collectives/choose/policy.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/verify/verify.hpp"
#include "support/random_trees.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using namespace testing;

constexpr std::size_t one_mebibyte = 1 << 20;

Tree tree_of(const char* expression) {
    return tree_from_expression(expression, -1).value();
}

PlanSpec call_on(const Tree& tree, std::int64_t count = 1 << 24) {
    PlanSpec call;
    call.count_elems = count;
    return decide(tree, call, {}).spec;
}

std::vector<int> some_ranks(const Tree& tree, int count) {
    std::mt19937_64 random(7);
    std::vector<int> ranks{0, tree.rank_count() - 1};
    for (int i = 0; i < count; ++i)
        ranks.push_back(static_cast<int>(random() % static_cast<std::uint64_t>(tree.rank_count())));
    return ranks;
}

void expect_small_plans(const Tree& tree, const PlanSpec& spec) {
    const auto planner = Planner::make(tree, spec);
    ASSERT_TRUE(planner.ok()) << planner.status().message();
    for (const int rank : some_ranks(tree, 30)) {
        const auto plan = planner->plan(rank);
        ASSERT_TRUE(plan.ok()) << plan.status().message();
        EXPECT_LE(bytes_held(*plan), one_mebibyte) << "rank " << rank;
        EXPECT_EQ(verify_alone(*plan).message(), "") << "rank " << rank;
    }
    EXPECT_LE(spec.choices.size() * sizeof(VertexChoice), one_mebibyte);
}

constexpr const char* symmetric = "switch(16x switch(16x switch(8x host(2x package(32x*)))))";
constexpr const char* lopsided =
    "switch(8x switch(16x switch(8x host(2x package(32x*)))) "
    "6x switch(12x switch(7x host(2x package(48x*)) host(48x*))) 2x switch(9x switch(9x "
    "host(64x*))))";

TEST(Scale, PlansAmong131072RanksFitInAMebibyte) {
    for (const char* expression : {symmetric, lopsided}) {
        SCOPED_TRACE(expression);
        const Tree tree = tree_of(expression);
        EXPECT_GT(tree.rank_count(), 120'000);
        expect_small_plans(tree, call_on(tree));
    }
}
/// Makes vertices of one level with between half and all of `degrees` branches, at random.
TreeSpec uneven_subtree(const std::vector<int>& degrees, std::size_t level, int& next_rank,
                        std::mt19937_64& random) {
    TreeSpec spec;
    if (level == degrees.size()) {
        spec.rank = next_rank++;
        return spec;
    }
    const auto most = static_cast<std::uint64_t>(degrees[level]);
    const std::uint64_t degree = (most + 1) / 2 + random() % (most - most / 2 + most % 2);
    for (std::uint64_t i = 0; i < degree; ++i)
        spec.children.push_back(uneven_subtree(degrees, level + 1, next_rank, random));
    return spec;
}

TEST(Scale, PlansAmongRanksOfRandomDegreesFitInAMebibyte) {
    for (std::uint64_t seed = 5; seed < 7; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        int ranks = 0;
        const Tree tree = Tree::make(uneven_subtree({20, 16, 8, 4, 48}, 0, ranks, random)).value();
        EXPECT_GT(ranks, 50'000);
        expect_small_plans(tree, call_on(tree, 1 << 26));
    }
}

/// Makes a tree of two ranks beside branches of thousands, which are cut at random places.
Tree cut_at_random(int ranks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    TreeSpec root;
    root.children.push_back(random_subtree(order, 0, 2, random));
    const std::size_t middle = order.size() / 3;
    root.children.push_back(random_subtree(order, 2, middle, random));
    root.children.push_back(random_subtree(order, middle, order.size(), random));
    return Tree::make(root).value();
}

TEST(Scale, PlansOnTreesCutAtRandomAreDealtAndSmall) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        SCOPED_TRACE(seed);
        const Tree tree = cut_at_random(20'000, seed);
        const PlanSpec spec = call_on(tree);
        EXPECT_TRUE(spec.dealt);
        expect_small_plans(tree, spec);
        const Planner planner = Planner::make(tree, spec).value();
        for (const int rank : {0, 1}) {
            const Plan plan = planner.plan(rank).value();
            EXPECT_LE(bytes_held(plan), one_mebibyte);
            EXPECT_LE(plan.body.steps.size() + plan.tail.steps.size(), 16'000U) << "its time";
        }
    }
}

TEST(Scale, DealtPlansOfAllRanksAreProvedTogether) {
    for (const std::int64_t count : {std::int64_t{1} << 18, std::int64_t{12'345}}) {
        const Tree tree = cut_at_random(600, 3);
        PlanSpec spec = call_on(tree, count);
        spec.dealt = true;
        spec.granule_elems = 1024;
        spec.chunk_elems = 0;
        std::vector<Plan> plans;
        const Planner planner = Planner::make(tree, spec).value();
        for (int rank = 0; rank < tree.rank_count(); ++rank)
            plans.push_back(planner.plan(rank).value());
        EXPECT_EQ(verify(tree, plans).message(), "");
    }
}

TEST(Scale, TreesWhoseBranchesAreAlikeAreNotDealt) {
    for (const char* expression : {symmetric, lopsided, "(8192x*)"})
        EXPECT_FALSE(call_on(tree_of(expression)).dealt) << expression;
}

/// Returns the steps of rank 0 by level.
std::vector<std::size_t> steps_by_level(const Tree& tree, const PlanSpec& spec) {
    const Plan plan = make_plan(tree, spec, 0).value();
    std::vector<std::size_t> steps(static_cast<std::size_t>(tree.height()));
    for (const Step& step : plan.body.steps) ++steps[step.level];
    return steps;
}

TEST(Scale, StepsFollowTheDegreesOnThePathNotTheRanks) {
    PlanSpec spec;
    spec.count_elems = 1 << 24;
    const auto few = steps_by_level(tree_of("switch(16x switch(8x host(2x package(32x*))))"), spec);
    const auto many = steps_by_level(tree_of(symmetric), spec);
    ASSERT_EQ(few.size() + 1, many.size());
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
    EXPECT_EQ(many.back(), few.back());  // 16 branches each
}

TEST(Scale, RanksOfEqualSubtreesHaveEqualPlansButForTheirNumbers) {
    const Tree tree = tree_of(symmetric);
    const auto planner = Planner::make(tree, call_on(tree));
    const std::size_t steps = planner->plan(0)->body.steps.size();
    for (const int rank : some_ranks(tree, 10))
        EXPECT_EQ(planner->plan(rank)->body.steps.size(), steps) << rank;
}

TEST(Scale, MessagesOfSampledRanksMatchTheirPeers) {
    for (const char* expression : {symmetric, lopsided}) {
        const Tree tree = tree_of(expression);
        const auto planner = Planner::make(tree, call_on(tree));
        for (const int rank : some_ranks(tree, 1)) {
            const Plan plan = planner->plan(rank).value();
            for (const Step& step : plan.body.steps) {
                if (step.kind != StepKind::send) continue;
                ASSERT_EQ(verify_messages(plan, *planner->plan(step.peer)).message(), "");
            }
        }
    }
}

TEST(Scale, WhatOneRankCannotNumberIsRefusedOnAllRanksAlike) {
    const auto flat = Planner::make(Tree::flat(131072), {});
    ASSERT_FALSE(flat.ok());
    EXPECT_EQ(flat.status().code(), Code::unsupported);
    EXPECT_NE(flat.status().message().find("131072 peers: at most 32767"), std::string::npos);
    EXPECT_TRUE(Planner::make(Tree::flat(32767), {}).ok());
    const Tree beside = tree_of("(* (100000x*))");
    const PlanSpec dealt = call_on(beside);
    EXPECT_TRUE(dealt.dealt);
    EXPECT_EQ(Planner::make(beside, dealt).status().code(), Code::unsupported)
        << "whoever owns a granule hears from 99,999";
    const Tree deeper = tree_of("(* (200x (500x*)))");
    const auto planner = Planner::make(deeper, call_on(deeper));
    ASSERT_TRUE(planner.ok()) << planner.status().message();
    EXPECT_LE(bytes_held(planner->plan(0).value()), one_mebibyte);
}

TEST(Links, TheFormulaGivesWhatThePlansSend) {
    for (const char* expression :
         {"((0 1)(2 3 4))", "(3x(4x*) (2x(3x*)) *)", "(4x(4x(4x*)))", "((* (* (* *))) 5x*)"}) {
        SCOPED_TRACE(expression);
        const Tree tree = tree_of(expression);
        PlanSpec spec;
        spec.count_elems = 1 << 20;
        LinkCounter counter(tree);
        for (int rank = 0; rank < tree.rank_count(); ++rank)
            counter.add(make_plan(tree, spec, rank).value());
        const std::vector<double> expected = expected_on_uplinks(tree, spec);
        for (int id = 1; id < tree.vertex_count(); ++id) {
            const LinkBytes& counted = counter.links()[static_cast<std::size_t>(id)];
            const double formula = expected[static_cast<std::size_t>(id)];
            EXPECT_NEAR(static_cast<double>(counted.up), formula, formula * 0.001) << id;
            EXPECT_NEAR(static_cast<double>(counted.down), formula, formula * 0.001) << id;
        }
    }
}

}  // namespace
}  // namespace gradcoll
