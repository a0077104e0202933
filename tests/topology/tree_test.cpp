// tests/topology/tree_test.cpp - makes, collapses, prunes and serialises trees.
#include "topology/tree.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "topology/random_tree.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using test::Random;

TreeSpec leaf(int rank, Uplink uplink = {}) {
    return {VertexKind::rank, "", rank, uplink, {}};
}
TreeSpec inner(std::vector<TreeSpec> children, Uplink uplink = {}, std::string name = "") {
    return {VertexKind::group, std::move(name), -1, uplink, std::move(children)};
}
Tree made(const TreeSpec& spec) {
    Result<Tree> tree = Tree::make(spec);
    EXPECT_TRUE(tree.ok()) << tree.status().message();
    return std::move(tree).value();
}
std::string error_of(const TreeSpec& spec) {
    const Result<Tree> tree = Tree::make(spec);
    EXPECT_FALSE(tree.ok());
    EXPECT_EQ(tree.status().code(), Code::invalid_argument);
    return tree.status().message();
}
#define EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

TEST(Tree, TwoAndThreeIsNumberedInPreOrder) {
    const Tree tree = made(inner({inner({leaf(0), leaf(1)}), inner({leaf(2), leaf(3), leaf(4)})}));
    ASSERT_EQ(tree.vertex_count(), 8);
    EXPECT_EQ(tree.rank_count(), 5);
    EXPECT_EQ(tree.height(), 2);
    EXPECT_EQ(tree.vertex(0).children, (std::vector<int>{1, 4}));
    EXPECT_EQ(tree.vertex(4).children, (std::vector<int>{5, 6, 7}));
    EXPECT_EQ(tree.vertex(4).leaf_count, 3);
    EXPECT_EQ(tree.vertex(4).branch, 1);
    EXPECT_EQ(tree.vertex(4).height, 1);
    EXPECT_EQ(tree.leaf_of(3), 6);
    EXPECT_EQ(tree.path_up(3), (std::vector<int>{4, 0}));
}

TEST(Tree, OneRankIsThatLeafAloneHoweverDeepItWasWritten) {
    const Tree tree = made(inner({inner({inner({leaf(0, {3, 1})}, {1, 1})}, {2, 1})}));
    ASSERT_EQ(tree.vertex_count(), 1);
    EXPECT_TRUE(tree.is_leaf(0));
    EXPECT_EQ(tree.height(), 0);
    EXPECT_TRUE(tree.path_up(0).empty());
    EXPECT_EQ(tree.vertex(0).uplink.bandwidth_gbytes_per_s, 0);
    EXPECT_EQ(tree.vertex(0).uplink.latency_us, 0);
}

TEST(Tree, CollapsedChainKeepsTheLowerVertexTheSlowestLinkAndTheSummedLatency) {
    TreeSpec lower = inner({leaf(0), leaf(1)}, {12, 0.5}, "lower");
    const Tree tree = made(inner({inner({inner({lower}, {0, 0.25})}, {8, 1}, "upper"), leaf(2)}));
    ASSERT_EQ(tree.vertex(1).name, "lower");
    EXPECT_EQ(tree.vertex(1).uplink.bandwidth_gbytes_per_s, 8);
    EXPECT_EQ(tree.vertex(1).uplink.latency_us, 1.75);
    EXPECT_EQ(tree.vertex_count(), 5);
}

TEST(Tree, CollapsedChainIsNamedAfterItsHost) {
    TreeSpec host = inner({inner({leaf(0), leaf(1)}, {}, "L3#0")}, {}, "n1");
    host.kind = VertexKind::host;
    host.children[0].kind = VertexKind::cache;
    const Tree tree = made(inner({host}, {}, "site"));
    EXPECT_EQ(tree.vertex(0).kind, VertexKind::host);
    EXPECT_EQ(tree.vertex(0).name, "n1");
}

TEST(Tree, ARankWithChildrenIsAVertexWhoseFirstBranchIsThatRank) {
    TreeSpec processor{VertexKind::host, "n1", 2, {5, 1}, {leaf(0, {2, 0}), leaf(1)}};
    const Tree tree = made(inner({processor, leaf(3)}));
    EXPECT_EQ(expression_of(tree), "((2 0 1)3)");
    EXPECT_EQ(tree.vertex(1).kind, VertexKind::host);
    EXPECT_EQ(tree.vertex(1).name, "n1");
    EXPECT_EQ(tree.vertex(1).uplink.bandwidth_gbytes_per_s, 5);
    EXPECT_EQ(tree.vertex(tree.leaf_of(2)).kind, VertexKind::rank);
    EXPECT_EQ(tree.vertex(tree.leaf_of(2)).uplink.bandwidth_gbytes_per_s, 0);
    EXPECT_EQ(tree.vertex(tree.leaf_of(0)).uplink.bandwidth_gbytes_per_s, 2);
    EXPECT_EQ(made({VertexKind::rank, "", 0, {}, {leaf(1)}}).hash(),
              made(inner({leaf(0), leaf(1)})).hash());
    EXPECT_EQ(expression_of(*tree.pruned(std::vector<int>{0, 1, 3})), "((0 1)2)");
}

TEST(Tree, ARankWithChildrenAtTheLastLevelIsTooDeep) {
    const auto chain = [](int levels) {
        TreeSpec spec{VertexKind::rank, "", levels, {}, {leaf(levels + 1)}};
        for (int level = levels; level-- > 0;)
            spec = {VertexKind::rank, "", level, {}, {std::move(spec)}};
        return spec;
    };
    EXPECT_EQ(made(chain(max_tree_depth - 1)).rank_count(), max_tree_depth + 1);
    EXPECT_HAS(error_of(chain(max_tree_depth)), "is deeper than the 1024 levels");
}

TEST(Tree, FlatIsOneVertexWithEveryRank) {
    const Tree tree = Tree::flat(4);
    EXPECT_EQ(expression_of(tree), "(0-3)");
    EXPECT_EQ(Tree::flat(1).vertex_count(), 1);
    EXPECT_EQ(tree.hash(), made(inner({leaf(0), leaf(1), leaf(2), leaf(3)})).hash());
}

TEST(Tree, ErrorsNameTheVertex) {
    EXPECT_HAS(error_of(inner({})), "vertex / (group) has no ranks below it");
    EXPECT_HAS(error_of(inner({leaf(0), inner({leaf(1), inner({}, {}, "n7")})})),
               "vertex /children/1/children/1 (group \"n7\") has no ranks below it");
    EXPECT_HAS(error_of(inner({leaf(0), leaf(0)})),
               "vertex /children/1 (rank) is refused: rank 0 is there twice");
    EXPECT_HAS(error_of(inner({leaf(0), leaf(2)})), "rank 1 is missing");
    EXPECT_HAS(error_of(inner({leaf(0), leaf(-2)})), "/children/1 (rank) has rank -2");
    EXPECT_HAS(error_of({VertexKind::rank, "", -1, {}, {leaf(0)}}),
               "is of kind rank but does not say which rank it is");
    EXPECT_HAS(error_of(inner({leaf(max_tree_ranks)})), "too large");
    EXPECT_HAS(error_of(inner({leaf(0), inner({leaf(1)}, {}, std::string(2000, 'x'))})),
               "name of 2000 bytes");
}

TEST(Tree, BandwidthAndLatencyMustBeFiniteAndNotNegative) {
    const double infinity = std::numeric_limits<double>::infinity();
    for (const double bad : {-1.0, -0.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_HAS(error_of(inner({leaf(0, {bad, 0}), leaf(1)})),
                   "/children/0 (rank) has the bandwidth");
        EXPECT_HAS(error_of(inner({leaf(0, {0, bad}), leaf(1)})),
                   "/children/0 (rank) has the latency");
    }
}

TEST(Tree, ImplausiblySlowLinksAreKept) {
    const Tree tree = made(inner({leaf(0, {1e-9, 1e9}), leaf(1)}));
    EXPECT_EQ(tree.vertex(1).uplink.bandwidth_gbytes_per_s, 1e-9);
}

TEST(Tree, DepthThousandWorksAndBeyondTheLimitIsRefused) {
    const auto comb = [](int depth) {  // every inner vertex has a leaf and the rest
        TreeSpec spec = leaf(depth);
        for (int d = depth; d-- > 0;) {
            TreeSpec upper;
            upper.children.push_back(leaf(d));
            upper.children.push_back(std::move(spec));
            spec = std::move(upper);
        }
        return spec;
    };
    const Tree tree = made(comb(1000));
    EXPECT_EQ(tree.height(), 1000);
    EXPECT_EQ(tree.path_up(1000).size(), 1000u);
    EXPECT_EQ(Tree::deserialize(tree.serialize())->hash(), tree.hash());
    EXPECT_EQ(tree_from_expression(expression_of(tree), 1001)->hash(), tree.hash());
    EXPECT_EQ(tree_from_json(json_of(tree), 1001)->hash(), tree.hash());
    EXPECT_HAS(error_of(comb(max_tree_depth + 1)), "deeper than the 1024 levels");
}

TEST(Tree, HundredThousandLeavesSurviveEveryForm) {
    TreeSpec spec;
    for (int rank = 0; rank < 100'000; ++rank) {
        if (rank % 1000 == 0) spec.children.emplace_back();
        spec.children.back().children.push_back(leaf(rank));
    }
    const Tree tree = made(spec);
    EXPECT_EQ(tree.rank_count(), 100'000);
    EXPECT_EQ(Tree::deserialize(tree.serialize())->hash(), tree.hash());
    EXPECT_EQ(tree_from_expression(expression_of(tree), 100'000)->hash(), tree.hash());
    EXPECT_EQ(tree_from_json(json_of(tree), 100'000)->hash(), tree.hash());
}

void expect_consistent(const Tree& tree) {
    for (int id = 0; id < tree.vertex_count(); ++id) {
        const Vertex& v = tree.vertex(id);
        ASSERT_EQ(v.rank < 0, v.children.size() >= 2) << "vertex " << id;
        ASSERT_EQ(v.children.empty(), v.rank >= 0);
        int leaves = v.rank >= 0 ? 1 : 0;
        int height = 0;
        for (std::size_t c = 0; c < v.children.size(); ++c) {
            const Vertex& child = tree.vertex(v.children[c]);
            ASSERT_EQ(child.parent, id);
            ASSERT_EQ(child.branch, static_cast<int>(c));
            ASSERT_EQ(v.children[c], c == 0 ? id + 1 : v.children[c]);  // pre-order
            ASSERT_TRUE(c == 0 || v.children[c] > v.children[c - 1]);
            leaves += child.leaf_count;
            height = std::max(height, child.height + 1);
        }
        ASSERT_EQ(v.leaf_count, leaves);
        ASSERT_EQ(v.height, height);
    }
    for (int rank = 0; rank < tree.rank_count(); ++rank)
        ASSERT_EQ(tree.vertex(tree.leaf_of(rank)).rank, rank);
}

TEST(TreeProperty, RandomTreesAreConsistentAndComeBackFromSpecAndBytes) {
    Random random(1);
    for (int i = 0; i < 3000; ++i) {
        const Tree tree = test::random_tree(random, 24);
        expect_consistent(tree);
        const std::string bytes = tree.serialize();
        const Result<Tree> back = Tree::deserialize(bytes);
        ASSERT_TRUE(back.ok()) << back.status().message();
        ASSERT_EQ(back->serialize(), bytes);
        ASSERT_EQ(made(tree.spec()).serialize(), bytes);
        ASSERT_EQ(back->hash(), tree.hash());
    }
}

/// Drops the unwanted leaves from the spec, by the definition; returns nothing if none is left.
std::vector<TreeSpec> without(const TreeSpec& spec, const std::vector<int>& new_rank) {
    TreeSpec out{spec.kind, spec.name, -1, spec.uplink, {}};
    if (spec.rank >= 0) {
        out.rank = new_rank[static_cast<std::size_t>(spec.rank)];
        return out.rank >= 0 ? std::vector<TreeSpec>{out} : std::vector<TreeSpec>{};
    }
    for (const TreeSpec& child : spec.children)
        for (TreeSpec& kept : without(child, new_rank)) out.children.push_back(std::move(kept));
    return out.children.empty() ? std::vector<TreeSpec>{} : std::vector<TreeSpec>{out};
}

TEST(TreeProperty, PruningEqualsDroppingLeavesFromTheSpec) {
    Random random(2);
    for (int i = 0; i < 3000; ++i) {
        const Tree tree = test::random_tree(random, 20);
        std::vector<int> ranks(static_cast<std::size_t>(tree.rank_count()));
        std::iota(ranks.begin(), ranks.end(), 0);
        std::shuffle(ranks.begin(), ranks.end(), random);
        ranks.resize(static_cast<std::size_t>(1 + test::below(random, tree.rank_count())));
        std::vector<int> new_rank(static_cast<std::size_t>(tree.rank_count()), -1);
        for (std::size_t r = 0; r < ranks.size(); ++r)
            new_rank[static_cast<std::size_t>(ranks[r])] = static_cast<int>(r);
        const Result<Tree> pruned = tree.pruned(ranks);
        ASSERT_TRUE(pruned.ok());
        expect_consistent(*pruned);
        ASSERT_EQ(pruned->serialize(), made(without(tree.spec(), new_rank).front()).serialize());
    }
}

TEST(Tree, PrunedRefusesEmptyUnknownAndRepeatedRanks) {
    const Tree tree = Tree::flat(3);
    EXPECT_HAS(tree.pruned({}).status().message(), "none is given");
    EXPECT_HAS(tree.pruned(std::vector<int>{0, 3}).status().message(), "rank 3 to keep is unknown");
    EXPECT_HAS(tree.pruned(std::vector<int>{-1}).status().message(), "rank -1 to keep is unknown");
    EXPECT_HAS(tree.pruned(std::vector<int>{1, 1}).status().message(),
               "rank 1 to keep is given twice");
}

TEST(Tree, DifferentTreesHaveDifferentBytesAndHashes) {
    const Tree tree = made(inner({leaf(0, {1, 0}), leaf(1)}));
    const Tree swapped = made(inner({leaf(1, {1, 0}), leaf(0)}));
    const Tree faster = made(inner({leaf(0, {2, 0}), leaf(1)}));
    const Tree named = made(inner({leaf(0, {1, 0}), leaf(1)}, {}, "n"));
    for (const Tree* other : {&swapped, &faster, &named}) {
        EXPECT_NE(other->serialize(), tree.serialize());
        EXPECT_NE(other->hash(), tree.hash());
    }
}

TEST(TreeBytes, EveryTruncationAndExtensionIsCorrupt) {
    Random random(3);
    const std::string bytes = test::random_tree(random, 12).serialize();
    for (std::size_t size = 0; size < bytes.size(); ++size)
        ASSERT_EQ(Tree::deserialize(bytes.substr(0, size)).status().code(), Code::corrupt) << size;
    EXPECT_EQ(Tree::deserialize(bytes + '\0').status().code(), Code::corrupt);
}

TEST(TreeBytes, AnUnknownVersionAndHugeCountsAreNamed) {
    std::string bytes = Tree::flat(2).serialize();
    std::string newer = bytes;
    newer[4] = 9;
    EXPECT_HAS(Tree::deserialize(newer).status().message(), "version 9 is not 1");
    for (std::size_t i = 8; i < 12; ++i) bytes[i] = '\xff';
    EXPECT_HAS(Tree::deserialize(bytes).status().message(), "4294967295 vertices do not fit");
}

}  // namespace
}  // namespace gradcoll
