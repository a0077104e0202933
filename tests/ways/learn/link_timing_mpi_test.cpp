// Rates of links between hosts follow from the time of calls.
#include "ways/learn/link_timing.hpp"

#include <gtest/gtest.h>

#include "api/api_support.hpp"
#include "topology/text.hpp"
#include "ways/host_trees.hpp"

namespace gradcoll::test {
namespace {

TEST(LinkTiming, KnowsHowOftenAVectorGoesThroughALink) {
    LinkTiming timing;
    EXPECT_DOUBLE_EQ(timing.begin(hosts(4, VertexKind::group, 0)), 1.5);
    EXPECT_DOUBLE_EQ(timing.begin(Tree::flat(1)), 0);
}

/// Between two hosts a link carries the vector once each way. The first call does not count.
TEST(LinkTiming, AllRanksLearnTheHighestRate) {
    const int ranks = size_of(MPI_COMM_WORLD);
    const auto rank = static_cast<std::uint64_t>(rank_of(MPI_COMM_WORLD));
    LinkTiming timing;
    timing.begin(hosts(2, VertexKind::group, 0));
    for (int call = 1; call <= LinkTiming::calls; ++call) {
        const std::uint64_t bytes = call == 1 ? 1'000'000'000 : 1000 * (rank + 1);
        EXPECT_EQ(timing.add(bytes, {.elapsed_ns = 1000}), call == LinkTiming::calls);
    }
    const auto rate = timing.agree(MPI_COMM_WORLD);
    ASSERT_TRUE(rate.ok());
    EXPECT_DOUBLE_EQ(*rate, ranks);
}

TEST(LinkTiming, OfCallsThatEndApartTheSlowestRankCounts) {
    const auto rank = static_cast<std::uint64_t>(rank_of(MPI_COMM_WORLD));
    LinkTiming timing;
    timing.begin(hosts(2, VertexKind::group, 0));
    for (int call = 1; call <= LinkTiming::calls; ++call)
        timing.add(1000 * (rank + 1), {.elapsed_ns = 1000, .ends_apart = true});
    const auto rate = timing.agree(MPI_COMM_WORLD);
    ASSERT_TRUE(rate.ok());
    EXPECT_DOUBLE_EQ(*rate, 1);
}

TEST(LinkTiming, TreesSayWhatCallsCanShow) {
    EXPECT_DOUBLE_EQ(rate_said_by(hosts(4, VertexKind::group, 0)), 0);
    EXPECT_DOUBLE_EQ(rate_said_by(hosts(4, VertexKind::fabric_switch, 0.5)), 0.5);
    // A vector goes through links of hosts one and a half times, of switches once, which takes
    // longer.
    const auto tree = tree_from_expression("switch(2x switch(4x host(*)@0.5)@0.25)", 8);
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    EXPECT_DOUBLE_EQ(rate_said_by(*tree), 1.5 * 0.25);
}

TEST(LinkTiming, RatesStandBetweenHostsAlone) {
    TreeSpec root;
    for (int host = 0; host < 2; ++host) {
        TreeSpec spec;
        spec.kind = VertexKind::host;
        for (int i = 0; i < 2; ++i) {
            TreeSpec leaf;
            leaf.rank = 2 * host + i;
            spec.children.push_back(leaf);
        }
        root.children.push_back(spec);
    }
    const Tree tree = with_links_between_hosts(*Tree::make(root), 0.125);
    for (int vertex = 1; vertex < tree.vertex_count(); ++vertex)
        EXPECT_EQ(tree.vertex(vertex).uplink.bandwidth_gbytes_per_s,
                  tree.is_leaf(vertex) ? 0.0 : 0.125);
}

}  // namespace
}  // namespace gradcoll::test
