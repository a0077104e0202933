#include "runtime/slow_links.hpp"

#include <gtest/gtest.h>

#include <string>

#include "collectives/build/planner.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using Peers = std::vector<int>;

/// Returns two hosts of two ranks each below a switch; `rates` are the hosts' uplinks.
Tree two_hosts(const std::string& rate_of_a, const std::string& rate_of_b) {
    const std::string text = R"({"kind": "switch", "children": [
        {"kind": "host", "name": "a", "bandwidth_gbytes_per_s": )" +
                             rate_of_a +
                             R"(, "children": [{"rank": 0}, {"rank": 1}]},
        {"kind": "host", "name": "b", "bandwidth_gbytes_per_s": )" +
                             rate_of_b + R"(, "children": [{"rank": 2}, {"rank": 3}]}]})";
    return std::move(tree_from_json(text, 4)).value();
}

Peers slow_peers(const Tree& tree, int rank) {
    PlanSpec spec;
    spec.count_elems = 1000;
    return peers_over_slow_links(tree, make_plan(tree, spec, rank).value());
}

TEST(SlowLinks, OnlyPeersOfTheOtherHostAreBehindThem) {
    const Tree tree = two_hosts("0.125", "0.125");
    EXPECT_EQ(slow_peers(tree, 0), Peers{2});
    EXPECT_EQ(slow_peers(tree, 1), Peers{3});
    EXPECT_EQ(slow_peers(tree, 2), Peers{0});
}

TEST(SlowLinks, OneSlowLinkOnTheWayIsEnoughForBothEnds) {
    const Tree tree = two_hosts("25", "0.125");
    EXPECT_EQ(slow_peers(tree, 0), Peers{2});
    EXPECT_EQ(slow_peers(tree, 2), Peers{0});
}

TEST(SlowLinks, TenGigabitIsSlowAndFasterIsNot) {
    EXPECT_EQ(slow_peers(two_hosts("1.25", "25"), 0), Peers{2});
    EXPECT_EQ(slow_peers(two_hosts("1.26", "25"), 0), Peers{});
}

TEST(SlowLinks, LinksOfUnknownRateAreNot) {
    EXPECT_EQ(slow_peers(two_hosts("0", "0"), 0), Peers{});
}

TEST(PeersOnOwnHost, AreThoseThatNoMessageLeavesTheHostFor) {
    const Tree tree = two_hosts("0.1", "0.1");
    PlanSpec spec;
    spec.count_elems = 1000;
    spec.choices = VertexChoices(std::vector<VertexChoice>(
        static_cast<std::size_t>(tree.vertex_count()), {Exchange::direct, CodecId::exact}));
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        const Plan plan = make_plan(tree, spec, rank).value();
        const Peers own = peers_on_own_host(tree, plan);
        EXPECT_EQ(own, Peers{rank ^ 1}) << rank;
    }
}

}  // namespace
}  // namespace gradcoll
