// What a call puts on links is what its ranks send.
#include "api/comm/call_traffic.hpp"

#include <gtest/gtest.h>

#include "api/comm/call_decision.hpp"
#include "collectives/build/planner.hpp"
#include "report/report.hpp"
#include "topology/text.hpp"

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
