// tests/collectives/choose/least_bytes_test.cpp - the length from which on exact vectors take the
// tree.
#include "collectives/choose/short_vectors.hpp"

#include <gtest/gtest.h>

namespace gradcoll {
namespace {

TreeSpec host(int rank, double gbytes_per_s) {
    TreeSpec host;
    host.kind = VertexKind::host;
    host.name = "host" + std::to_string(rank);
    host.rank = rank;
    host.uplink.bandwidth_gbytes_per_s = gbytes_per_s;
    return host;
}

/// Makes two switches of three hosts each.
Tree cluster(VertexKind kind, double gbytes_per_s) {
    TreeSpec top;
    top.kind = VertexKind::fabric_switch;
    for (int group = 0; group < 2; ++group) {
        TreeSpec inner;
        inner.kind = kind;
        inner.uplink.bandwidth_gbytes_per_s = gbytes_per_s;
        for (int i = 0; i < 3; ++i) inner.children.push_back(host(3 * group + i, gbytes_per_s));
        top.children.push_back(inner);
    }
    return Tree::make(top).value();
}

TEST(LeastBytes, ShortVectorsTakeKnownSlowLinks) {
    EXPECT_EQ(least_tree_bytes_on(cluster(VertexKind::fabric_switch, 0.125)),
              slow_links_least_tree_bytes);
    EXPECT_LT(slow_links_least_tree_bytes, usual_least_tree_bytes);
}

TEST(LeastBytes, FastAndUnknownLinksAreForLongVectors) {
    EXPECT_EQ(least_tree_bytes_on(cluster(VertexKind::fabric_switch, 12.5)),
              usual_least_tree_bytes);
    EXPECT_EQ(least_tree_bytes_on(cluster(VertexKind::fabric_switch, 0)), usual_least_tree_bytes);
    EXPECT_EQ(least_tree_bytes_on(Tree::flat(4)), usual_least_tree_bytes);
    EXPECT_EQ(least_tree_bytes_on(Tree::flat(1)), usual_least_tree_bytes);
}

/// If rates are known and no switches, hosts pass vectors round in a ring.
TEST(LeastBytes, WithoutSwitchesOnlyLongVectorsDo) {
    EXPECT_EQ(least_tree_bytes_on(cluster(VertexKind::group, 0.125)), usual_least_tree_bytes);
}

TEST(LeastBytes, LinksInsideAHostDoNotCount) {
    TreeSpec top;
    top.kind = VertexKind::host;
    for (int rank = 0; rank < 3; ++rank) {
        TreeSpec core;
        core.rank = rank;
        core.uplink.bandwidth_gbytes_per_s = 0.1;
        top.children.push_back(core);
    }
    EXPECT_EQ(least_tree_bytes_on(Tree::make(top).value()), usual_least_tree_bytes);
}

}  // namespace
}  // namespace gradcoll
