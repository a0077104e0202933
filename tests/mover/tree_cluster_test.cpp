// tests/mover/tree_cluster_test.cpp - a tree of the library supplies what a cluster's own
// description leaves out.
#include "mover/input/tree_cluster.hpp"

#include <gtest/gtest.h>

namespace gradcoll::mover {
namespace {

TreeSpec vertex(VertexKind kind, double gbytes_per_s, double latency_us,
                std::vector<TreeSpec> children) {
    TreeSpec out;
    out.kind = kind;
    out.uplink = {gbytes_per_s, latency_us};
    out.children = std::move(children);
    return out;
}

/// Makes hosts behind one switch, each with its number of bridges with two GPUs.
Tree machine(std::vector<int> bridges_of_host) {
    int rank = 0;
    TreeSpec root = vertex(VertexKind::fabric_switch, 0, 0, {});
    for (const int bridges : bridges_of_host) {
        TreeSpec host = vertex(VertexKind::host, 50, 3, {});
        for (int b = 0; b < bridges; ++b) {
            TreeSpec bridge = vertex(VertexKind::bridge, 25, 0, {});
            for (int g = 0; g < 2; ++g) {
                bridge.children.push_back(vertex(VertexKind::gpu, 300, 0, {}));
                bridge.children.back().rank = rank++;
            }
            host.children.push_back(std::move(bridge));
        }
        root.children.push_back(std::move(host));
    }
    const auto tree = Tree::make(root);
    EXPECT_TRUE(tree.ok()) << tree.status().message();
    return *tree;
}

TEST(TreeCluster, HostsLinksAndBridgesAreThoseOfTheTree) {
    Document cluster{"c", nlohmann::json::object()};
    ASSERT_TRUE(add_from_tree(machine({2, 2}), "t", cluster).ok());
    EXPECT_EQ((nlohmann::json{{"devices_per_host", 4},
                              {"devices_per_link", 2},
                              {"link_gbytes_per_s", 25.0},
                              {"network_gbytes_per_s", 12.5},  // 50 of four ranks
                              {"network_latency_us", 6.0},
                              {"tensor_gbytes_per_s", 25.0}}),
              cluster.json);
}

TEST(TreeCluster, AGroupOfLinkedGpusIsInsideOfItsHost) {
    TreeSpec root = vertex(VertexKind::fabric_switch, 0, 0, {});
    for (int rank = 0; rank < 4; rank += 2) {
        TreeSpec group = vertex(VertexKind::group, 0, 0, {});
        for (int g = 0; g < 2; ++g) {
            group.children.push_back(vertex(VertexKind::gpu, 300, 0, {}));
            group.children.back().rank = rank + g;
        }
        TreeSpec alone = vertex(VertexKind::gpu, 20, 0, {});
        alone.rank = 4 + rank / 2;
        root.children.push_back(vertex(VertexKind::host, 30, 0, {group, alone}));
    }
    Document cluster{"c", nlohmann::json::object()};
    ASSERT_TRUE(add_from_tree(*Tree::make(root), "t", cluster).ok());
    EXPECT_EQ((nlohmann::json{{"devices_per_host", 3},
                              {"network_gbytes_per_s", 10.0},
                              {"tensor_gbytes_per_s", 20.0}}),
              cluster.json);
}

TEST(TreeCluster, WhatIsWrittenStays) {
    Document cluster{"c", {{"devices_per_host", 9}, {"network_gbytes_per_s", 1}}};
    ASSERT_TRUE(add_from_tree(machine({2, 2}), "t", cluster).ok());
    EXPECT_EQ(9, cluster.json["devices_per_host"]);
    EXPECT_EQ(1, cluster.json["network_gbytes_per_s"]);
    EXPECT_EQ(2, cluster.json["devices_per_link"]);
}

TEST(TreeCluster, ATreeWithoutFiguresTellsHostsAlone) {
    Document cluster{"c", nlohmann::json::object()};
    ASSERT_TRUE(add_from_tree(Tree::flat(4), "t", cluster).ok());
    EXPECT_EQ(1, cluster.json.size()) << cluster.json;
}

TEST(TreeCluster, HostsThatDifferAreRefused) {
    Document cluster{"c", nlohmann::json::object()};
    EXPECT_EQ("t: hosts of 4 and 6 ranks, allowed are hosts that are alike",
              add_from_tree(machine({2, 3}), "t", cluster).message());
}

}  // namespace
}  // namespace gradcoll::mover
