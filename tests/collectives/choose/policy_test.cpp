// tests/collectives/choose/policy_test.cpp - what the policy chooses can be planned.
#include "collectives/choose/policy.hpp"

#include "collectives/calls.hpp"
#include "collectives/choose/exchange_choice.hpp"
#include "collectives/draw/decision_text.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify/verify.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using namespace testing;

TEST(Policy, ReadsListsByLevel) {
    EXPECT_EQ(*hop_codecs_from("exact,2:4"), (HopCodecs{CodecId::exact, CodecId::nm_2_4}));
    EXPECT_EQ(*level_exchanges_from("direct,auto,ring"),
              (std::vector<ExchangeWish>{Exchange::direct, std::nullopt, called("ring")}));
    EXPECT_NE(level_exchanges_from("direct,rng").status().message().find("\"rng\""),
              std::string::npos);
    EXPECT_FALSE(hop_codecs_from("").ok());
}

TEST(Policy, LastEntryHoldsForAllLevelsAbove) {
    const Tree tree = two_level_tree({2, 3});
    PolicyOptions options;
    options.codecs = {CodecId::exact, CodecId::nm_2_4};
    options.level_exchanges = {called("ring")};
    const Decision decision = decide(tree, call_of(1 << 20), options);
    EXPECT_EQ(decision.spec.choices[0].codec, CodecId::nm_2_4);
    EXPECT_EQ(decision.spec.choices[0].exchange, called("ring"));
    EXPECT_EQ(decision.spec.choices[1].codec, CodecId::exact);
    EXPECT_EQ(decision.spec.down_codec, CodecId::nm_2_4);
    EXPECT_EQ(decision.spec.granule_elems, 512);
    EXPECT_NE(text_of(tree, decision, shipped_tuning()).find("2:4"), std::string::npos);
}

TEST(Policy, CodecsAreForBlocksOfAGranuleAndMore) {
    const Tree tree = two_level_tree({2, 3});
    PolicyOptions options;
    options.codecs = {CodecId::nm_2_4};
    options.down_codec = CodecId::bf16;
    for (const Collective collective : {Collective::reduce_scatter_block, Collective::allgather}) {
        PlanSpec call = call_of(5 * 511);
        call.collective = collective;
        EXPECT_FALSE(is_lossy(decide(tree, call, options).spec));
        call.count_elems = 5 * 512;
        EXPECT_TRUE(is_lossy(decide(tree, call, options).spec));
    }
    EXPECT_TRUE(is_lossy(decide(tree, call_of(5 * 511), options).spec));
}

void expect_chunks(const Tree& tree, AutoChunk automatic) {
    const std::int64_t whole = automatic.whole_bytes / 4;
    EXPECT_EQ(decide(tree, call_of(whole), {}).spec.chunk_elems, 0);
    EXPECT_EQ(decide(tree, call_of(whole + 1), {}).spec.chunk_elems, automatic.chunk_bytes / 4);
}

TEST(Policy, ReadsCodecsByKindOfLink) {
    const HopCodecs slow_links = HopCodecs::by_link(CodecId::exact, CodecId::nm_2_4);
    for (const char* text :
         {"between=2:4", "switch=2:4", "host=exact,switch=2:4", "switch=2:4, host=exact"})
        EXPECT_EQ(*hop_codecs_from(text), slow_links) << text;
    EXPECT_EQ(*hop_codecs_from("host=bf16,switch=1:4"),
              HopCodecs::by_link(CodecId::bf16, CodecId::nm_1_4));
    for (const HopCodecs& codecs : {slow_links, HopCodecs{CodecId::exact, CodecId::nm_2_4},
                                    HopCodecs::by_link(CodecId::bf16, CodecId::nm_1_4)})
        EXPECT_EQ(*hop_codecs_from(codecs.text()), codecs) << codecs.text();
}

TEST(Policy, RefusesUnknownKindsOfLinksAndNamesThoseThatThereAre) {
    for (const char* text : {"numa=2:4", "host=exact,rack=2:4", "=2:4", "host=exact,2:4",
                             "2:4,switch=2:4", "host=exact,host=2:4", "between=2:4,host=bf16"}) {
        const Status status = hop_codecs_from(text).status();
        EXPECT_FALSE(status.ok()) << text;
        for (const char* kind : {"host (", "switch (", "between ("})
            EXPECT_NE(status.message().find(kind), std::string::npos) << status.message();
    }
    EXPECT_NE(hop_codecs_from("switch=3:4").status().message().find("3:4"), std::string::npos);
}

/// Makes one host of two NUMA nodes, hosts whose ranks have no levels between them, and a rank that
/// is a host of its own: heights say nothing about what is inside a host.
Tree lopsided_hosts() {
    const auto rank = [](int number) { return TreeSpec{VertexKind::rank, "", number, {}, {}}; };
    const auto inner = [](VertexKind kind, std::vector<TreeSpec> children) {
        return TreeSpec{kind, "", -1, {}, std::move(children)};
    };
    TreeSpec deep = inner(VertexKind::host, {inner(VertexKind::numa, {rank(0), rank(1)}),
                                             inner(VertexKind::numa, {rank(2), rank(3), rank(4)})});
    TreeSpec rack =
        inner(VertexKind::fabric_switch, {inner(VertexKind::host, {rank(5), rank(6)}), rank(7)});
    return Tree::make(inner(VertexKind::fabric_switch, {deep, rack, rank(8)})).value();
}

/// Returns, by kind of vertex, how many of its exchanges compress, and how many do not.
std::map<std::string, std::pair<int, int>> compressed_exchanges(const Tree& tree,
                                                                const HopCodecs& codecs) {
    PolicyOptions options;
    options.codecs = codecs;
    const Decision decision = decide(tree, call_of(1 << 20), options);
    EXPECT_EQ(verify(tree, plans_of(tree, decision.spec)).message(), "");
    std::map<std::string, std::pair<int, int>> counts;
    for (const int vertex : tree.inner_vertices()) {
        auto& [lossy, exact] = counts[std::string(name_of(tree.vertex(vertex).kind))];
        ++(decision.spec.choices.of(vertex).codec == CodecId::exact ? exact : lossy);
    }
    return counts;
}

using Counts = std::map<std::string, std::pair<int, int>>;

TEST(Policy, BetweenHostsOnlyIsSaidByKindOfLinkNotByLevel) {
    const Tree tree = lopsided_hosts();
    EXPECT_EQ(compressed_exchanges(tree, *hop_codecs_from("between=2:4")),
              (Counts{{"host", {0, 2}}, {"numa", {0, 2}}, {"switch", {2, 0}}}));
    EXPECT_EQ(compressed_exchanges(tree, *hop_codecs_from("host=2:4")),
              (Counts{{"host", {2, 0}}, {"numa", {2, 0}}, {"switch", {0, 2}}}));
    EXPECT_EQ(compressed_exchanges(tree, *hop_codecs_from("exact,2:4")),
              (Counts{{"host", {1, 1}}, {"numa", {0, 2}}, {"switch", {2, 0}}}))
        << "by level the deep host compresses, too";
}

/// This checks steps of the plans, not only choices: who encodes on the way up, and where.
TEST(Policy, BetweenHostsOnlyLeavesEveryStepInsideHostsExact) {
    const Tree tree = lopsided_hosts();
    PolicyOptions options;
    options.codecs = *hop_codecs_from("between=2:4");
    const PlanSpec spec = decide(tree, call_of(1 << 20), options).spec;
    EXPECT_EQ(spec.down_codec, CodecId::nm_2_4);
    int lossy_up = 0;
    for (const Plan& plan : plans_of(tree, spec))
        for (const Step& step : plan.body.steps) {
            if (step.codec == CodecId::exact) continue;
            ++lossy_up;
            const auto path = tree.path_up(plan.rank);
            const auto at = std::find_if(path.begin(), path.end(), [&](int vertex) {
                return tree.vertex(vertex).height - 1 == step.level;
            });
            ASSERT_NE(at, path.end());
            EXPECT_FALSE(is_inside_host(tree, *at)) << "rank " << plan.rank;
        }
    EXPECT_GT(lossy_up, 0);
}

TEST(Policy, GroupsAreBetweenHostsUnlessAHostIsAbove) {
    const Tree written = two_level_tree({2, 3});
    for (const int vertex : written.inner_vertices())
        EXPECT_EQ(is_inside_host(written, vertex), !connects_hosts(written.vertex(vertex).kind));
    TreeSpec host = two_level_tree({2, 3}).spec();
    host.kind = VertexKind::host;
    for (TreeSpec& branch : host.children) branch.kind = VertexKind::group;
    const Tree tree = Tree::make(host).value();
    for (const int vertex : tree.inner_vertices()) EXPECT_TRUE(is_inside_host(tree, vertex));
}

TEST(Policy, SmallCallsGoWholeAndLongOnesInChunksSmallerWhereLevelsOverlap) {
    const Tree tree = two_level_tree({2, 3});
    expect_chunks(tree, shipped_tuning().many_level_chunk);
    expect_chunks(Tree::flat(4), shipped_tuning().one_level_chunk);
    PolicyOptions options;
    options.chunk_bytes = 0;
    EXPECT_EQ(decide(tree, call_of(1 << 24), options).spec.chunk_elems, 0);
    options.chunk_bytes = 1;
    EXPECT_EQ(decide(tree, call_of(1 << 24), options).spec.chunk_elems, 16);
    EXPECT_EQ(decide(Tree::flat(1), call_of(1 << 24), {}).spec.chunk_elems, 0);
}

TEST(Policy, KnownLinksDecideTheChunk) {
    const Tree tree = known_links({12.5, 1}, {50, 1});
    const std::int64_t chunk = decide(tree, call_of(1 << 22), {}).spec.chunk_elems;
    EXPECT_GT(chunk, 0);
    EXPECT_NE(chunk, shipped_tuning().many_level_chunk.chunk_bytes / 4);
    EXPECT_EQ(decide(tree, call_of(1 << 10), {}).spec.chunk_elems, 0);
}

/// Makes hosts of one rank each, as they are found if no source knows a switch.
Tree hosts_among(VertexKind kind, int hosts, const std::string& name) {
    TreeSpec root;
    root.kind = kind;
    for (int host = 0; host < hosts; ++host) {
        TreeSpec leaf;
        leaf.rank = host;
        if (!name.empty()) leaf.name = name + std::to_string(host);
        root.children.push_back(leaf);
    }
    return *Tree::make(root);
}

TEST(Policy, LongExactVectorsGoRoundAmongHostsOfAnUnknownNetwork) {
    const auto exchange = [](const Tree& tree, std::int64_t count, const char* codec) {
        PolicyOptions options;
        options.codecs = *hop_codecs_from(codec);
        return decide(tree, call_of(count), options).spec.choices[0].exchange;
    };
    const Tree hosts = hosts_among(VertexKind::group, 4, "host ");
    EXPECT_EQ(exchange(hosts, 1 << 20, "exact"), called("ring"));
    EXPECT_NE(exchange(hosts, 1 << 20, "2:4"), called("ring"));
    EXPECT_NE(exchange(hosts, 256, "exact"), called("ring"));
    for (const Tree& known :
         {hosts_among(VertexKind::fabric_switch, 4, "host "), hosts_among(VertexKind::group, 4, ""),
          Tree::flat(4), hosts_among(VertexKind::group, 2, "host ")})
        EXPECT_NE(exchange(known, 1 << 20, "exact"), called("ring"));
}

TEST(Policy, OnlySingleExchangesStandAboveSingleOnes) {
    EXPECT_EQ(*level_exchanges_from("recursive,single"),
              (std::vector<ExchangeWish>{called("recursive"), Exchange::single}));
    EXPECT_NE(level_exchanges_from("single,direct").status().message().find("above single: single"),
              std::string::npos);
    EXPECT_NE(level_exchanges_from("rng").status().message().find(
                  "auto, direct, ring, recursive, single"),
              std::string::npos);
}

TEST(Policy, ASingleExchangeThatCannotBeIsDirect) {
    PolicyOptions options;
    options.level_exchanges = {Exchange::single};
    const Tree tree = known_links({12.5, 1}, {50, 1});
    const auto exchanges = [&](const PlanSpec& call) {
        const PlanSpec spec = decide(tree, call, options).spec;
        return std::vector{spec.choices[0].exchange, spec.choices[1].exchange};
    };
    EXPECT_EQ(exchanges(call_of(1000)), (std::vector{Exchange::single, Exchange::single}));
    PlanSpec gather = call_of(1000);
    gather.collective = Collective::allgather;
    EXPECT_EQ(exchanges(gather), (std::vector{Exchange::direct, Exchange::direct}));
    options.codecs = {CodecId::nm_2_4, CodecId::exact};
    EXPECT_EQ(exchanges(call_of(1000)), (std::vector{Exchange::single, Exchange::direct}));
    options.codecs = {CodecId::exact, CodecId::nm_2_4};
    EXPECT_EQ(exchanges(call_of(1000)), (std::vector{Exchange::direct, Exchange::direct}));
}

TEST(Policy, ShortVectorsTakeSingleExchangesAndLongOnesDoNot) {
    const Tree tree = known_links({12.5, 1}, {50, 1});
    const Decision few = decide(tree, call_of(256), {});
    EXPECT_EQ(few.spec.choices[0].exchange, Exchange::single);
    const std::string few_text = text_of(tree, few, shipped_tuning());
    EXPECT_NE(few_text.find("single exchanges from level"), std::string::npos) << few_text;
    ASSERT_FALSE(few.shortened.empty());
    EXPECT_LT(few.shortened.back().us, few.shortened.front().before_us);
    PolicyOptions direct;
    direct.level_exchanges = {Exchange::direct};
    EXPECT_LT(few.predicted_us, decide(tree, call_of(256), direct).predicted_us);
    EXPECT_EQ(decide(tree, call_of(256), direct).spec.choices[0].exchange, Exchange::direct);
    const PlanSpec many = decide(tree, call_of(1 << 22), {}).spec;
    for (const VertexChoice& choice : many.choices) {
        EXPECT_NE(choice.exchange, Exchange::single);
        EXPECT_NE(choice.exchange, Exchange::merged);
    }
}

/// There are 125 ranks and 512 blocks of a codec: four for each rank would be one chunk, without
/// overlap.
TEST(Policy, AShortCompressedVectorIsCutIntoChunksWhereLinksAreKnown) {
    const Tree tree = tree_from_expression(
                          "switch(switch(15x *@4/1 switch(27x *@4/1)@4/1)@72/1 "
                          "switch(18x *@4/1)@68/1 switch(17x *@4/1)@69/1 switch(16x *@4/1)@72/1 "
                          "switch(6x *@2/1 switch(5x *@1/1 21x *@2/1)@4/1)@4/1)",
                          -1)
                          .value();
    ASSERT_EQ(tree.rank_count(), 125);
    PolicyOptions options;
    options.codecs = {CodecId::exact, CodecId::nm_2_4};
    const Decision decision = decide(tree, call_of(1 << 18), options);
    EXPECT_GT(decision.spec.chunk_elems, 0);
    EXPECT_GE(decision.spec.chunk_elems, 125 * decision.spec.granule_elems);
    options.chunk_bytes = 0;
    EXPECT_LT(decision.predicted_us, decide(tree, call_of(1 << 18), options).predicted_us);
    EXPECT_EQ(verify(tree, plans_of(tree, decision.spec)).message(), "");
}

/// Two ranks are below a switch beside six others: its latency dominates, its link is no
/// bottleneck.
TEST(Policy, ALevelThatOnlyAddsLatencyIsMerged) {
    TreeSpec spec = two_level_tree({2, 2, 2}).spec();
    for (TreeSpec& branch : spec.children) {
        branch.uplink = {100, 1};
        for (TreeSpec& leaf : branch.children) leaf.uplink = {12.5, 5};
    }
    const Tree tree = Tree::make(spec).value();
    PolicyOptions options;
    options.codecs = {CodecId::exact};
    const Decision decision = decide(tree, call_of(256), options);
    const std::string text = text_of(tree, decision, shipped_tuning());
    EXPECT_EQ(decision.spec.choices[1].exchange, Exchange::merged) << text;
    EXPECT_NE(text.find("merged with"), std::string::npos);
    EXPECT_EQ(exchange_costs(tree, shipped_tuning(), decision.spec).size(), 1U)
        << "a merged vertex has nothing to compare";
    EXPECT_EQ(verify(tree, plans_of(tree, decision.spec)).message(), "");
    options.codecs = {CodecId::nm_2_4, CodecId::exact};
    EXPECT_NE(decide(tree, call_of(4096), options).spec.choices[1].exchange, Exchange::merged);
}

TEST(Policy, EveryDecisionCanBePlanned) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const Tree tree = random_tree(1 + static_cast<int>(random() % 12), random);
        PolicyOptions options;
        options.feedback = random() % 2 == 0;
        if (random() % 2 == 0) options.codecs = {CodecId::exact, CodecId::nm_2_4};
        const Decision decision =
            decide(tree, call_of(static_cast<std::int64_t>(random() % 2000000)), options);
        const Status status = verify(tree, plans_of(tree, decision.spec));
        ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.message();
    }
}

}  // namespace
}  // namespace gradcoll
