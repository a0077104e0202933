// tests/collectives/plan/partition_test.cpp - who owns what at each vertex.
#include "collectives/plan/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "support/random_trees.hpp"

namespace gradcoll {
namespace {

using namespace testing;

std::int64_t total(const std::vector<Range>& ranges) {
    std::int64_t sum = 0;
    for (const Range& range : ranges) sum += range.size();
    return sum;
}

TEST(Partition, OverlayOfTwoAndThreeCutsAtThirdsAndHalf) {
    const Tree tree = two_level_tree({2, 3});
    const OwnershipMap map(tree, 120, 1);
    const auto intervals = map.intervals(tree.root(), Range{0, 120});
    ASSERT_EQ(intervals.size(), 4U);
    const Range ranges[] = {{0, 40}, {40, 60}, {60, 80}, {80, 120}};
    const std::vector<int> owners[] = {{0, 2}, {0, 3}, {1, 3}, {1, 4}};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(intervals[i].range, ranges[i]);
        EXPECT_EQ(intervals[i].owners, owners[i]);
    }
}

TEST(Partition, OfTwoAndThreeEveryRankEndsWithOneRangeOfAQuarterOrASixth) {
    const Tree tree = two_level_tree({2, 3});
    const OwnershipMap map(tree, 120, 1);
    for (int rank = 0; rank < 5; ++rank) {
        const auto target = map.target(rank, tree.root());
        EXPECT_EQ(target.size(), 1U) << "rank " << rank;
        EXPECT_EQ(total(target), rank < 2 ? 30 : 20) << "rank " << rank;
    }
}

TEST(Partition, BranchesOf7And11And13Give29Intervals) {
    const Tree tree = two_level_tree({7, 11, 13});
    const OwnershipMap map(tree, 7 * 11 * 13 * 6, 1);
    EXPECT_EQ(map.intervals(tree.root(), Range{0, map.count_elems()}).size(), 29U);
}

TEST(Partition, WithBlocksEveryRankEndsWithItsOwn) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const int ranks = 1 + static_cast<int>(random() % 40);
        const Tree tree = random_tree(ranks, random);
        const auto block = static_cast<std::int64_t>(1 + random() % 3000);
        const auto granule = static_cast<std::int64_t>(1 + random() % 600);
        const std::vector<char> dealt = seed % 3 == 0 ? dealt_shapes(tree) : std::vector<char>();
        const OwnershipMap map(tree, ranks * block, granule, dealt, OwnershipMap::Ends::in_blocks);
        for (int rank = 0; rank < ranks; ++rank) {
            std::int64_t owned = ranks * block;
            std::vector<Range> kept;
            int child = tree.leaf_of(rank);
            for (const std::vector<Interval>& level : map.intervals_above(rank)) {
                std::vector<Range> all;
                kept.clear();
                for (const Interval& interval : level) {
                    map.append_elements(all, interval.range);
                    map.append_elements(
                        kept, interval.parts[static_cast<std::size_t>(tree.vertex(child).branch)]);
                }
                for (const Range& range : all) {
                    const std::int64_t first = range.begin / block * block;
                    ASSERT_LE(range.end, first + block);
                    ASSERT_EQ((range.begin - first) % granule, 0);
                }
                ASSERT_EQ(total(all), owned) << "rank " << rank;
                owned = total(kept);
                child = tree.vertex(child).parent;
            }
            const Range own{rank * block, (rank + 1) * block};
            ASSERT_EQ(kept, ranks > 1 ? std::vector{own} : std::vector<Range>());
        }
    }
}

/// However many ranks there are, a rank's parts are as many as its messages.
TEST(Partition, BlocksOfManyRanksAtOneVertexAreOneInterval) {
    const Tree tree = Tree::flat(5000);
    const OwnershipMap map(tree, 5000 * 1000, 1, {}, OwnershipMap::Ends::in_blocks);
    const std::vector<std::vector<Interval>> levels = map.intervals_above(17);
    ASSERT_EQ(levels.size(), 1U);
    EXPECT_EQ(levels.front().size(), 1U);
    const Tree hosts = two_level_tree(std::vector<int>(64, 16));
    const OwnershipMap of_hosts(hosts, 1024 * 1000, 1, {}, OwnershipMap::Ends::in_blocks);
    EXPECT_LE(of_hosts.intervals_above(17).back().size(), 200U);
}

/// The uplink of two ranks beside three carries what the three own one way, and what the two own
/// the other way.
TEST(Partition, WithBlocksABranchTakesInOnlyWhatItsRanksOwn) {
    const Tree tree = two_level_tree({2, 3});
    const OwnershipMap map(tree, 500, 1, {}, OwnershipMap::Ends::in_blocks);
    std::int64_t to_two = 0;
    for (int rank = 2; rank < 5; ++rank) {
        const std::vector<std::vector<Interval>> levels = map.intervals_above(rank);
        for (const Interval& interval : levels.back()) to_two += interval.parts[0].size();
    }
    EXPECT_EQ(to_two, 200);
}

TEST(Partition, SymmetricTreesGiveEveryRankOneEqualRange) {
    const Tree tree = two_level_tree({4, 4, 4});
    const OwnershipMap map(tree, 1200, 1);
    for (int rank = 0; rank < 12; ++rank) {
        const auto target = map.target(rank, tree.root());
        ASSERT_EQ(target.size(), 1U);
        EXPECT_EQ(target.front().size(), 100);
    }
}

TEST(Partition, OneRankOwnsEverything) {
    const Tree tree = Tree::flat(1);
    const OwnershipMap map(tree, 7, 16);
    EXPECT_EQ(map.target(0, tree.root()), (std::vector<Range>{{0, 7}}));
    EXPECT_EQ(map.owners(tree.root(), {2, 5}), (std::vector<OwnedRange>{{{2, 5}, 0}}));
}

TEST(Partition, FewerGranulesThanRanksLeaveSomeWithNothing) {
    const Tree tree = two_level_tree({2, 3});
    const OwnershipMap map(tree, 20, 16);
    const auto owners = map.owners(tree.root(), {0, 20});
    EXPECT_LE(owners.size(), 2U);
    EXPECT_EQ(owners.back().range.end, 20);
}

TEST(Partition, OddGranulesGoToAllBranchesInTurn) {
    // Every interval is one granule, and each branch must get some of them.
    const Tree tree = two_level_tree({40, 40});
    const OwnershipMap map(tree, 40, 1);
    std::int64_t first_branch = 0;
    for (const OwnedRange& piece : map.owners(tree.root(), {0, 40}))
        if (piece.rank < 40) first_branch += piece.range.size();
    EXPECT_EQ(first_branch, 20);
}

struct RandomMaps : ::testing::Test {
    template <class Check>
    void for_each(std::uint64_t seeds, int most_ranks, Check check) {
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            SCOPED_TRACE(seed);
            std::mt19937_64 random(seed);
            const Tree tree = random_tree(
                1 + static_cast<int>(random() % static_cast<unsigned>(most_ranks)), random);
            const std::int64_t limits[] = {50, 5000, 1000000, std::int64_t{1} << 40};
            const auto count = static_cast<std::int64_t>(
                random() % static_cast<std::uint64_t>(limits[random() % 4]));
            const std::int64_t granules[] = {1, 3, 16, 512};
            check(tree, OwnershipMap(tree, count, granules[random() % 4]), random);
            if (HasFatalFailure()) return;
        }
    }
};

TEST_F(RandomMaps, EveryElementHasOneOwnerAtEveryVertex) {
    for_each(400, 64, [](const Tree& tree, const OwnershipMap& map, auto&) {
        for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
            std::int64_t at = 0;
            int last = -1;
            for (const OwnedRange& piece : map.owners(vertex, {0, map.count_elems()})) {
                ASSERT_EQ(piece.range.begin, at);
                ASSERT_FALSE(piece.range.empty());
                ASSERT_NE(piece.rank, last) << "neighbours are joined";
                ASSERT_TRUE(piece.range.end % map.granule_elems() == 0 ||
                            piece.range.end == map.count_elems());
                at = piece.range.end;
                last = piece.rank;
            }
            ASSERT_EQ(at, map.count_elems());
        }
    });
}

TEST_F(RandomMaps, TargetsAreWhatOwnersSay) {
    for_each(200, 40, [](const Tree& tree, const OwnershipMap& map, auto&) {
        std::vector<std::vector<Range>> owned(static_cast<std::size_t>(tree.rank_count()));
        for (const OwnedRange& piece : map.owners(tree.root(), {0, map.count_elems()}))
            append_joined(owned[static_cast<std::size_t>(piece.rank)], piece.range);
        for (int rank = 0; rank < tree.rank_count(); ++rank)
            ASSERT_EQ(map.target(rank, tree.root()), owned[static_cast<std::size_t>(rank)])
                << "rank " << rank;
    });
}

TEST_F(RandomMaps, AWindowSeesTheSameAsTheWhole) {
    for_each(200, 40, [](const Tree& tree, const OwnershipMap& map, std::mt19937_64& random) {
        if (map.count_elems() == 0) return;
        const auto whole = map.owners(tree.root(), {0, map.count_elems()});
        const auto bound = static_cast<std::uint64_t>(map.count_elems() + 1);
        const auto a = static_cast<std::int64_t>(random() % bound);
        const auto b = static_cast<std::int64_t>(random() % bound);
        const Range window{std::min(a, b), std::max(a, b)};
        std::vector<OwnedRange> clipped;
        for (const OwnedRange& piece : whole)
            if (!intersect(piece.range, window).empty())
                clipped.push_back({intersect(piece.range, window), piece.rank});
        ASSERT_EQ(map.owners(tree.root(), window), clipped);
    });
}

TEST_F(RandomMaps, EveryBranchKeepsItsEqualShareOfEveryInterval) {
    for_each(200, 40, [](const Tree& tree, const OwnershipMap& map, auto&) {
        for (int vertex = 0; vertex < tree.vertex_count(); ++vertex) {
            if (tree.is_leaf(vertex)) continue;
            const auto degree = static_cast<std::int64_t>(tree.children(vertex).size());
            for (const Interval& interval : map.intervals(vertex, Range{0, map.count_elems()})) {
                ASSERT_EQ(total(interval.parts), interval.range.size());
                for (const Range& part : interval.parts) {
                    ASSERT_LT(part.size(),
                              interval.range.size() / degree + 2 * map.granule_elems());
                    ASSERT_GT(part.size(),
                              interval.range.size() / degree - 2 * map.granule_elems());
                }
            }
        }
    });
}

// ---- dealt

/// Calls `check` with the same tree twice, with ownership from overlays and dealt.
template <class Check>
void for_each_dealt(std::uint64_t seeds, Check check) {
    int with_dealt_vertices = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Tree tree = random_tree(100 + static_cast<int>(random() % 200), random);
        const std::vector<char> dealt = dealt_shapes(tree);
        with_dealt_vertices += dealt.back();
        const auto count = static_cast<std::int64_t>(random() % 100000);
        check(tree, OwnershipMap(tree, count, 1 + static_cast<std::int64_t>(random() % 300), dealt),
              dealt);
        if (::testing::Test::HasFatalFailure()) return;
    }
    EXPECT_GT(with_dealt_vertices, static_cast<int>(seeds / 2));
}

TEST(DealtPartition, EveryElementHasOneOwnerAtEveryVertexAndTargetsSayTheSame) {
    for_each_dealt(30, [](const Tree& tree, const OwnershipMap& map, const auto&) {
        for (const int vertex : tree.inner_vertices()) {
            std::vector<std::vector<Range>> owned(static_cast<std::size_t>(tree.rank_count()));
            std::int64_t at = 0;
            for (const OwnedRange& piece : map.owners(vertex, {0, map.count_elems()})) {
                ASSERT_EQ(piece.range.begin, at);
                ASSERT_FALSE(piece.range.empty());
                at = piece.range.end;
                append_joined(owned[static_cast<std::size_t>(piece.rank)], piece.range);
            }
            ASSERT_EQ(at, map.count_elems());
            const Vertex& v = tree.vertex(vertex);
            for (int i = 0; i < v.leaf_count; i += 7) {
                const int rank = tree.rank_at(v.first_leaf + i);
                ASSERT_EQ(map.target(rank, vertex), owned[static_cast<std::size_t>(rank)]);
            }
        }
    });
}

TEST(DealtPartition, BranchesOfADealtVertexHaveEqualSharesUpToOneGranule) {
    for_each_dealt(30, [](const Tree& tree, const OwnershipMap& map, const auto& dealt) {
        for (const int vertex : tree.inner_vertices()) {
            if (!dealt[static_cast<std::size_t>(tree.vertex(vertex).shape)]) continue;
            std::vector<std::int64_t> shares(tree.children(vertex).size());
            for (const Interval& interval : map.intervals(vertex, Range{0, map.count_elems()})) {
                ASSERT_LE(interval.range.size(), map.granule_elems());
                ASSERT_EQ(total(interval.parts), interval.range.size());
                for (std::size_t b = 0; b < shares.size(); ++b)
                    shares[b] += interval.parts[b].size();
            }
            const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
            ASSERT_LE(*most - *least, 2 * map.granule_elems());
        }
    });
}

TEST(DealtPartition, RanksFarBelowGetEvenSharesToo) {
    // All dealt levels have the same degree: dealing by the granule's number alone would give all
    // of it to one rank in four.
    TreeSpec spec = two_level_tree({7, 11, 13}).spec();
    const auto four_times = [](const TreeSpec& below) {
        TreeSpec above;
        above.children.assign(4, below);
        return above;
    };
    spec = four_times(four_times(four_times(spec)));
    int next = 0;
    const std::function<void(TreeSpec&)> number = [&](TreeSpec& at) {
        if (at.children.empty()) at.rank = next++;
        for (TreeSpec& child : at.children) number(child);
    };
    number(spec);
    const Tree tree = Tree::make(spec).value();
    const std::vector<char> dealt = dealt_shapes(tree);
    ASSERT_TRUE(dealt.back());
    const OwnershipMap map(tree, 4096, 1, dealt);
    std::vector<std::int64_t> by_block(64);
    for (const OwnedRange& piece : map.owners(tree.root(), {0, 4096}))
        by_block[static_cast<std::size_t>(piece.rank / 31)] += piece.range.size();
    for (const std::int64_t elems : by_block) {
        EXPECT_GT(elems, 64 / 3);
        EXPECT_LT(elems, 64 * 3);
    }
}

TEST(Overlay, SymmetricTreesAreNeverDealtAndHaveNoPiecesFromCuts) {
    for (const int ranks : {1, 2, 1000}) {
        EXPECT_EQ(dealt_shapes(Tree::flat(ranks)).back(), 0);
        EXPECT_EQ(most_cut_pieces(Tree::flat(ranks), 1 << 20), 0);
    }
}

TEST(Partition, ChainOfOneRankBranchesIsWorkedOutOnce) {
    // There are twelve levels: a query that computed intervals three times at each would be slow
    // here.
    TreeSpec spec;
    spec.rank = 0;
    for (int rank = 1; rank <= 12; ++rank) {
        TreeSpec leaf;
        leaf.rank = rank;
        TreeSpec parent;
        parent.children = {spec, leaf};
        spec = parent;
    }
    const Tree tree = Tree::make(spec).value();
    const OwnershipMap map(tree, std::int64_t{1} << 33, 16);
    std::int64_t sum = 0;
    for (const OwnedRange& piece : map.owners(tree.root(), {0, map.count_elems()}))
        sum += piece.range.size();
    EXPECT_EQ(sum, map.count_elems());
}

}  // namespace
}  // namespace gradcoll
