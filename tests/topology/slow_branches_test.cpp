// tests/topology/slow_branches_test.cpp - branches with slow links join after the fast ones have
// exchanged.
#include "topology/derived_trees.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "topology/text.hpp"

namespace gradcoll {
namespace {

/// Makes hosts with links of these rates at one switch.
Tree star(const std::vector<double>& rates) {
    TreeSpec top;
    top.kind = VertexKind::fabric_switch;
    for (std::size_t i = 0; i < rates.size(); ++i) {
        TreeSpec host;
        host.rank = static_cast<int>(i);
        host.uplink.bandwidth_gbytes_per_s = rates[i];
        top.children.push_back(host);
    }
    auto tree = Tree::make(top);
    EXPECT_TRUE(tree.ok()) << tree.status().message();
    return std::move(tree).value();
}

TEST(SlowBranches, OneSlowHostExchangesWithAllOthersTogether) {
    const Tree tree = with_slow_branches_apart(star({1, 1, 0.1, 1}));
    EXPECT_EQ(expression_of(tree), "((0 1 3)2)");
    const Vertex& fast = tree.vertex(tree.children(tree.root()).front());
    EXPECT_EQ(fast.kind, VertexKind::fabric_switch);
    EXPECT_DOUBLE_EQ(fast.uplink.bandwidth_gbytes_per_s, 3);
}

TEST(SlowBranches, EqualOrUnknownRatesStay) {
    for (const Tree& tree : {star({1, 1, 1, 1}), star({1, 1, 0.9}), star({1, 0, 0.1, 1}),
                             star({0, 0, 0}), star({1, 0.1}), Tree::flat(5)})
        EXPECT_EQ(with_slow_branches_apart(tree).hash(), tree.hash());
}

/// Many slow hosts exchange most of the vector among themselves anyway.
TEST(SlowBranches, MostlySlowHostsStay) {
    const Tree tree = star({1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
    EXPECT_EQ(with_slow_branches_apart(tree).hash(), tree.hash());
}

TEST(SlowBranches, InsideAHostNothingIsChanged) {
    TreeSpec host;
    host.kind = VertexKind::host;
    for (int rank = 0; rank < 4; ++rank) {
        TreeSpec core;
        core.rank = rank;
        core.uplink.bandwidth_gbytes_per_s = rank == 0 ? 0.1 : 1;
        host.children.push_back(core);
    }
    const Tree tree = Tree::make(host).value();
    EXPECT_EQ(with_slow_branches_apart(tree).hash(), tree.hash());
}

/// Returns the bytes over a rank's link for a vector of one byte, below one vertex, without what is
/// above it.
double passes(std::size_t degree) {
    const auto d = static_cast<double>(degree);
    return 2 * (d - 1) / d;
}

double slowest(const Tree& tree, int vertex, double above) {
    const auto children = tree.children(vertex);
    const double load = passes(children.size()) + above / static_cast<double>(children.size());
    double time = 0;
    for (const int child : children) {
        time = std::max(time, load / tree.vertex(child).uplink.bandwidth_gbytes_per_s);
        if (!tree.is_leaf(child)) time = std::max(time, slowest(tree, child, load));
    }
    return time;
}

TEST(SlowBranches, NeverTakesLongerAndIsDoneOnce) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> rate(0.05, 1);
    int changed = 0;
    for (int round = 0; round < 500; ++round) {
        std::vector<double> rates(3 + random() % 10);
        for (double& one : rates) one = rate(random);
        const Tree before = star(rates);
        const Tree after = with_slow_branches_apart(before);
        const double gain = slowest(before, before.root(), 0) / slowest(after, after.root(), 0);
        if (after.hash() == before.hash()) continue;
        ++changed;
        EXPECT_EQ(with_slow_branches_apart(after).hash(), after.hash());
        EXPECT_GT(gain, 1) << expression_of(after);
        EXPECT_EQ(after.rank_count(), before.rank_count());
        for (int rank = 0; rank < before.rank_count(); ++rank)
            EXPECT_EQ(after.vertex(after.leaf_of(rank)).uplink.bandwidth_gbytes_per_s,
                      rates[static_cast<std::size_t>(rank)]);
    }
    EXPECT_GT(changed, 50);
}

}  // namespace
}  // namespace gradcoll
