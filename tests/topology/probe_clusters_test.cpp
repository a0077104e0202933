// tests/topology/probe_clusters_test.cpp - finds which things stand apart, and when nothing does.
#include "topology/probe/clusters.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gradcoll {
namespace {

using Sets = std::vector<std::vector<int>>;

/// Finds the sets among things on a line: the cost between two is their distance.
Sets on_a_line(const std::vector<double>& places, double gap) {
    const auto cost = [&](int a, int b) {
        return std::abs(places[static_cast<std::size_t>(a)] - places[static_cast<std::size_t>(b)]);
    };
    return clusters(static_cast<int>(places.size()), cost, gap);
}

TEST(ProbeClusters, FewerThanThreeThingsHaveNone) {
    EXPECT_EQ(on_a_line({}, 2), Sets{});
    EXPECT_EQ(on_a_line({0}, 2), Sets{});
    EXPECT_EQ(on_a_line({0, 1}, 2), Sets{});
}

TEST(ProbeClusters, SetsInsideSetsAreFoundSmallestFirst) {
    EXPECT_EQ(on_a_line({0, 1, 10, 11, 100}, 2), (Sets{{0, 1}, {2, 3}, {0, 1, 2, 3}}));
}

TEST(ProbeClusters, EvenSpacingHasNoGap) {
    EXPECT_EQ(on_a_line({0, 1, 2, 3, 4, 5}, 1.01), Sets{});
}

TEST(ProbeClusters, AGapHasToBeAsLargeAsAsked) {
    EXPECT_EQ(on_a_line({0, 10, 25}, 1.5), (Sets{{0, 1}}));
    EXPECT_EQ(on_a_line({0, 10, 25}, 1.51), Sets{});
}

TEST(ProbeClusters, WhatIsNotKnownNeitherHoldsTogetherNorTellsApart) {
    const auto unknown = [](int, int) { return std::numeric_limits<double>::infinity(); };
    EXPECT_EQ(clusters(4, unknown, 1.1), Sets{});
    const auto one_pair_known = [](int a, int b) {
        return a + b == 1 ? 1.0 : std::numeric_limits<double>::infinity();
    };
    EXPECT_EQ(clusters(4, one_pair_known, 1.1), Sets{});
}

TEST(ProbeClusters, OutermostAndInnermostAreTheEndsOfTheNesting) {
    const Sets sets{{0, 1}, {2, 3}, {5, 6}, {0, 1, 2, 3}};
    EXPECT_EQ(outermost(sets), (Sets{{0, 1, 2, 3}, {5, 6}}));
    EXPECT_EQ(innermost(sets), (Sets{{0, 1}, {2, 3}, {5, 6}}));
}

}  // namespace
}  // namespace gradcoll
