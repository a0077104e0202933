// What a call puts on links is what its ranks send.
#include "ways/tree/call_traffic.hpp"

#include <gtest/gtest.h>

#include <map>

#include "collectives/build/planner.hpp"
#include "report/report.hpp"
#include "topology/text.hpp"
#include "ways/tree/call_decision.hpp"

namespace gradcoll {
namespace {

CallKey key_of(Collective collective, bool compress) {
    return {.collective = collective,
            .type = ElementType::f32,
            .phase = compress ? CodecId::nm_2_4 : CodecId::exact,
            .compress = compress,
            .elem_bytes = 4,
            .count = 12 * 4096};
}

Decision decided(const Tree& tree, const CallKey& key) {
    Settings settings;
    settings.exchange = {ExchangeWish()};
    settings.compress_if = CompressIf::always;
    settings.schedule = *CodecSchedule::parse("0:2:4");
    return decision_for(tree, settings, key);
}

/// Over the links of the leaves each message goes once up and once down.
LinkBytes over_leaves(const TreeTraffic& traffic) {
    LinkBytes sum;
    for (int rank = 0; rank < traffic.tree.rank_count(); ++rank) {
        const auto leaf = static_cast<std::size_t>(traffic.tree.leaf_of(rank));
        sum.up += traffic.links[leaf].up;
        sum.down += traffic.links[leaf].down;
    }
    return sum;
}

TEST(CallTraffic, IsWhatAllRanksSendTogether) {
    const Tree tree =
        std::move(tree_from_expression("switch:s(host:a(0 1)@10 host:b(2-4)@10)", 5)).value();
    for (const auto collective :
         {Collective::allreduce, Collective::reduce_scatter_block, Collective::allgather})
        for (const bool compress : {false, true}) {
            CallKey key = key_of(collective, compress);
            key.count = 5 * 4096 * 12;
            const PlanSpec spec = decided(tree, key).spec;
            std::uint64_t sent = 0;
            for (int rank = 0; rank < tree.rank_count(); ++rank)
                sent += sending_cost_of(tree, make_plan(tree, spec, rank).value())->bytes;
            const auto traffic = traffic_of_call(tree, spec);
            ASSERT_NE(traffic, nullptr);
            EXPECT_GT(sent, 0U);
            EXPECT_EQ(over_leaves(*traffic).up, sent);
            EXPECT_EQ(over_leaves(*traffic).down, sent);
        }
}

TEST(CallTraffic, OfTheRanksBelowALinkTogetherIsWhatGoesOverIt) {
    const Tree tree =
        std::move(tree_from_expression("switch:s(host:a(0 1)@10 host:b(2-4)@5)", 5)).value();
    CallKey key = key_of(Collective::allreduce, true);
    key.count = 5 * 4096 * 12 + 4;  // a shorter last chunk, too
    const PlanSpec spec = decided(tree, key).spec;
    const auto traffic = traffic_of_call(tree, spec);
    std::map<std::uint64_t, OwnLink> sums;
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        const auto links = own_links(tree, make_plan(tree, spec, rank).value());
        ASSERT_EQ(links.size(), 1U) << "that of a leaf is not known";
        OwnLink& sum = sums.try_emplace(links[0].key, OwnLink{}).first->second;
        sum.name = links[0].name;
        sum.gbytes_per_s = links[0].gbytes_per_s;
        EXPECT_EQ(links[0].to_kind, VertexKind::fabric_switch);
        sum.up_bytes += links[0].up_bytes;
        sum.down_bytes += links[0].down_bytes;
    }
    ASSERT_EQ(sums.size(), 2U);
    for (const auto& [unused, sum] : sums) {
        const int vertex = tree.vertex(tree.leaf_of(sum.name == "a" ? 0 : 2)).parent;
        EXPECT_EQ(sum.gbytes_per_s, sum.name == "a" ? 10 : 5);
        EXPECT_GT(sum.up_bytes, 0U);
        EXPECT_EQ(sum.up_bytes, traffic->links[static_cast<std::size_t>(vertex)].up);
        EXPECT_EQ(sum.down_bytes, traffic->links[static_cast<std::size_t>(vertex)].down);
    }
}

TEST(CallTraffic, AHostsLinkIsTheSameInTreesOfOtherCommunicators) {
    const Tree all =
        std::move(tree_from_expression("switch:s(host:a(0 1)@10 host:b(2-4)@5)", 5)).value();
    const int leaders[] = {0, 2};
    const int some[] = {0, 1, 4};
    const auto key_above = [&](const Tree& tree, int rank) {
        const PlanSpec spec = decided(tree, key_of(Collective::allreduce, false)).spec;
        return own_links(tree, make_plan(tree, spec, rank).value()).at(0).key;
    };
    EXPECT_EQ(key_above(all, 0), key_above(std::move(all.pruned(leaders)).value(), 0));
    EXPECT_EQ(key_above(all, 2), key_above(std::move(all.pruned(some)).value(), 2));
    EXPECT_NE(key_above(all, 0), key_above(all, 2));
}

TEST(CallTraffic, OfManyRanksIsExpected) {
    const Tree tree = Tree::flat(100);
    CallKey key = key_of(Collective::allreduce, false);
    const PlanSpec spec = decided(tree, key).spec;
    const auto traffic = traffic_of_call(tree, spec);
    ASSERT_NE(traffic, nullptr);
    const double least = 2.0 * 99 / 100 * 12 * 4096 * 4;
    EXPECT_NEAR(static_cast<double>(traffic->links[1].up), least, 0.05 * least);
    key.collective = Collective::allgather;
    EXPECT_EQ(traffic_of_call(tree, decided(tree, key).spec), nullptr) << "no formula for it";
}

TEST(CallTraffic, OfTooManyToLookAtIsNotCounted) {
    const Tree tree = Tree::flat(Report::most_pictured_vertices);
    const CallKey key = key_of(Collective::allreduce, false);
    EXPECT_EQ(traffic_of_call(tree, decided(tree, key).spec), nullptr);
}

}  // namespace
}  // namespace gradcoll
