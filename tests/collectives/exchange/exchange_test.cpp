// tests/collectives/exchange/exchange_test.cpp - every exchange of every degree, seen from all
// branches, and the exact rounds of the newer ones.
#include "collectives/exchange/exchange.hpp"

#include "collectives/build/merge.hpp"
#include "collectives/build/planner.hpp"
#include "collectives/predict/links.hpp"
#include "collectives/shapes.hpp"
#include "collectives/verify/verify.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

using namespace testing;

PlanSpec spec_with(const Tree& tree, Exchange exchange, std::int64_t count = 1000) {
    PlanSpec spec;
    spec.count_elems = count;
    spec.choices = std::vector<VertexChoice>(static_cast<std::size_t>(tree.vertex_count()),
                                             {exchange, CodecId::exact});
    return spec;
}

Tree tree_of(const char* text) {
    return tree_from_expression(text, -1).value();
}

/// Totals are those of one branch in one phase.
struct Totals {
    std::size_t parts_sent = 0;
    std::size_t parts_received = 0;
    std::size_t most_senders = 0;  ///< most branches that send to it in one round
};

Totals totals_of(const std::vector<Round>& rounds) {
    Totals totals;
    for (const Round& round : rounds) {
        for (const Hop& hop : round.sends) totals.parts_sent += hop.parts.size();
        for (const Hop& hop : round.recvs) totals.parts_received += hop.parts.size();
        totals.most_senders = std::max(totals.most_senders, round.recvs.size());
    }
    return totals;
}

TEST(ExchangeTable, EveryBranchSendsWhatTheRowSaysInAsManyRoundsAndFromAsMany) {
    for (const Exchange exchange : split_exchanges())
        for (int degree = 2; degree <= 33; ++degree)
            for (int branch = 0; branch < degree; ++branch) {
                SCOPED_TRACE(std::string(name_of(exchange)) + " of " + std::to_string(degree));
                const auto up = reduce_scatter_rounds(exchange, degree, branch);
                const auto down = allgather_rounds(exchange, degree, branch);
                ASSERT_EQ(static_cast<int>(up.size()), round_count(exchange, degree));
                ASSERT_EQ(static_cast<int>(down.size()), rounds_down(exchange, degree));
                const double parts = times_least_bytes(exchange, degree) * (degree - 1);
                for (const Totals& totals : {totals_of(up), totals_of(down)}) {
                    ASSERT_EQ(static_cast<double>(totals.parts_sent), parts);
                    ASSERT_EQ(static_cast<double>(totals.parts_received), parts);
                    ASSERT_EQ(static_cast<int>(totals.most_senders),
                              senders_at_once(exchange, degree));
                }
            }
}

/// Returns how often a contribution is encoded on its way up, at most, if every branch encodes what
/// it sends: it is followed part by part.
int encodings_found(Exchange exchange, int degree) {
    std::vector<std::vector<Round>> rounds;
    for (int branch = 0; branch < degree; ++branch)
        rounds.push_back(reduce_scatter_rounds(exchange, degree, branch));
    const auto n = static_cast<std::size_t>(degree);
    std::vector<std::vector<int>> depth(n, std::vector<int>(n, 0));  // [branch][part]
    for (std::size_t round = 0; round < rounds.front().size(); ++round) {
        auto after = depth;
        for (std::size_t from = 0; from < n; ++from)
            for (const Hop& hop : rounds[from][round].sends)
                for (const int part : hop.parts) {
                    int& at =
                        after[static_cast<std::size_t>(hop.branch)][static_cast<std::size_t>(part)];
                    at = std::max(at, depth[from][static_cast<std::size_t>(part)] + 1);
                }
        depth = std::move(after);
    }
    int most = 0;
    for (std::size_t branch = 0; branch < n; ++branch) most = std::max(most, depth[branch][branch]);
    return most;
}

TEST(ExchangeTable, ContributionsAreEncodedAsOftenAsTheRowSays) {
    for (const Exchange exchange : split_exchanges()) {
        SCOPED_TRACE(name_of(exchange));
        for (int degree = 2; degree <= 17; ++degree)
            EXPECT_LE(encodings_found(exchange, degree), encodings_up(exchange, degree)) << degree;
        EXPECT_EQ(encodings_found(exchange, 16), encodings_up(exchange, 16));
    }
}

TEST(ExchangeTable, NamesLeadBackToNumbers) {
    EXPECT_EQ(called("direct"), Exchange::direct);
    EXPECT_EQ(called("ring"), Exchange{1});
    EXPECT_EQ(called("recursive"), Exchange{2});
    for (const ExchangeRow* row : exchange_table()) {
        EXPECT_EQ(exchange_named(row->name), row->number);
        EXPECT_EQ(name_of(row->number), row->name);
        EXPECT_FALSE(row->text.empty()) << row->name;
        EXPECT_EQ(row->name.find_first_of(", "), std::string_view::npos) << row->name;
        EXPECT_TRUE(is_split(row->number));
    }
    EXPECT_TRUE(exchange_names().starts_with("direct, ring, recursive, single"))
        << exchange_names();
    EXPECT_EQ(exchange_named("merged"), std::nullopt);
    EXPECT_FALSE(is_known(Exchange{99}));
    for (const Exchange kind : {Exchange::single, Exchange::merged}) {
        EXPECT_TRUE(is_known(kind));
        EXPECT_FALSE(is_split(kind));
    }
}

TEST(Exchange, NumbersThatNoRowHasAreRefused) {
    const Tree tree = Tree::flat(3);
    const Status status = Planner::make(tree, spec_with(tree, Exchange{99})).status();
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_NE(status.message().find("number 99: must be that of direct, ring"), std::string::npos)
        << status.message();
}

TEST(Exchange, RecursiveTakesTheLogarithmOfTheDegreeRoundedUp) {
    EXPECT_EQ(round_count(called("recursive"), 2), 1);
    EXPECT_EQ(round_count(called("recursive"), 3), 2);
    EXPECT_EQ(round_count(called("recursive"), 8), 3);
    EXPECT_EQ(round_count(called("recursive"), 9), 4);
    EXPECT_EQ(rounds_down(Exchange::single, 9), 0);
}

TEST(Exchange, RecursiveHalvesBetweenPartnersWhereTheDegreeIsAPowerOfTwo) {
    const auto rounds = reduce_scatter_rounds(called("recursive"), 4, 1);
    EXPECT_EQ(rounds[0].sends, (std::vector<Hop>{{3, {2, 3}}}));
    EXPECT_EQ(rounds[0].recvs, (std::vector<Hop>{{3, {0, 1}}}));
    EXPECT_EQ(rounds[1].sends, (std::vector<Hop>{{0, {0}}}));
    EXPECT_EQ(rounds[1].recvs, (std::vector<Hop>{{0, {1}}}));
}

TEST(Exchange, EveryDegreeAddsUpWithEveryExchange) {
    std::vector<Exchange> exchanges = split_exchanges();
    exchanges.push_back(Exchange::single);
    for (const Exchange exchange : exchanges)
        for (int degree = 2; degree <= 17; ++degree)
            for (const bool in_place : {false, true}) {
                Shape shape{Tree::flat(degree), {}, 1};
                shape.spec = spec_with(shape.tree, exchange, 500);
                shape.spec.in_place = in_place;
                SCOPED_TRACE(std::string(name_of(exchange)) + " of " + std::to_string(degree));
                expect_result<float>(shape, false);
                const Status status = verify(shape.tree, plans_of(shape.tree, shape.spec));
                ASSERT_TRUE(status.ok()) << status.message();
            }
}

TEST(Single, OneMessageAPeerAndNothingOnTheWayDown) {
    const Tree tree = Tree::flat(4);
    for (const Plan& plan : plans_of(tree, spec_with(tree, Exchange::single))) {
        EXPECT_EQ(plan.body.send_count, 3U);
        EXPECT_EQ(plan.body.recv_count, 3U);
        for (const Step& step : plan.body.steps) EXPECT_EQ(step.stage, 0);
    }
}

/// Sums that are rounded show the order: ((x0 + x1) + x2) + x3 on every rank.
TEST(Single, EverybodyAddsInBranchOrder) {
    const Tree tree = Tree::flat(4);
    World<float> world(plans_of(tree, spec_with(tree, Exchange::single, 3)));
    const std::vector<float> values{1e8F, 3.3F, -1e8F, 0.7F};
    for (const float value : values) {
        world.inputs.emplace_back(3, value);
        world.outputs.emplace_back(3, 99.0F);
    }
    ASSERT_EQ(world.run(5), "");
    const float expected = ((values[0] + values[1]) + values[2]) + values[3];
    for (const auto& output : world.outputs) EXPECT_EQ(output, std::vector<float>(3, expected));
}

TEST(Single, HoldersOfUnevenBranchesHearOnceFromEachOtherBranch) {
    const Tree tree = tree_of("((0 1) (2 3 4 5 6) 7)");
    const PlanSpec spec = spec_with(tree, Exchange::single);
    const auto plans = plans_of(tree, spec);
    EXPECT_EQ(holder_counts(tree, spec.choices).front(), 8);
    std::vector<std::uint32_t> received;
    for (const Plan& plan : plans) received.push_back(plan.body.recv_count);
    EXPECT_EQ(received, (std::vector<std::uint32_t>{3, 3, 6, 6, 6, 6, 6, 2}));
    EXPECT_EQ(plans[7].body.send_count, 7U);  // alone in its branch: it sends to all
    EXPECT_EQ(verify(tree, plans).message(), "");
}

TEST(Single, IsRefusedWhereItCannotBe) {
    const Tree tree = tree_of("((0 1) (2 3))");
    const auto refused = [&](const PlanSpec& spec, const char* part) {
        const Status status = Planner::make(tree, spec).status();
        EXPECT_EQ(status.code(), Code::invalid_argument);
        EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    };
    PlanSpec spec = spec_with(tree, Exchange::single);
    spec.collective = Collective::allgather;
    refused(spec, "allreduce only, not allgather");
    spec = spec_with(tree, Exchange::single);
    spec.granule_elems = 512;
    spec.feedback = true;
    refused(spec, "feedback");
    spec.feedback = false;
    spec.choices = spec.choices.with_codec(CodecId::nm_2_4);
    refused(spec, "must be exact, not 2:4");
    std::vector<VertexChoice> below(static_cast<std::size_t>(tree.vertex_count()));
    below[1].exchange = Exchange::single;
    spec = spec_with(tree, Exchange::direct);
    spec.choices = below;
    refused(spec, "none but single ones above it, not direct");
}

TEST(Single, RanksThatAddInAnotherOrderAreFound) {
    const Tree tree = Tree::flat(3);
    auto plans = plans_of(tree, spec_with(tree, Exchange::single, 100));
    Schedule& body = plans[1].body;
    std::vector<Step*> sums;
    for (Step& step : body.steps)
        if (step.kind == StepKind::reduce) sums.push_back(&step);
    ASSERT_EQ(sums.size(), 2U);
    std::swap(sums[0]->from, sums[1]->from);
    std::swap(sums[0]->first_dep, sums[1]->first_dep);
    std::swap(sums[0]->dep_count, sums[1]->dep_count);
    EXPECT_FALSE(verify(tree, plans).ok());
}

TEST(Single, AnOwnerTooManyIsFoundElsewhere) {
    const Tree tree = Tree::flat(3);
    auto plans = plans_of(tree, spec_with(tree, Exchange::single, 100));
    for (Plan& plan : plans) plan.spec.choices = {};
    EXPECT_NE(verify(tree, plans).message().find("several"), std::string::npos);
    for (Plan& plan : plans) plan.spec.builder = Builder{200};  // about which nothing is known
    EXPECT_EQ(verify(tree, plans).message(), "");
}

/// The tree is ((0 1) (2 3 4)) with the branches handed up, all or only the first.
TEST(Merged, BranchesBecomeThoseOfTheVertexAbove) {
    const Tree tree = tree_of("((0 1)@10 (2 3 4)@20)");
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    choices[1].exchange = Exchange::merged;
    PlanSpec spec = spec_with(tree, Exchange::direct);
    spec.choices = choices;
    const PlannedTree planned(tree, spec);
    ASSERT_TRUE(planned.has_merged());
    EXPECT_EQ(planned.tree().children(0).size(), 3U);
    EXPECT_EQ(planned.given_vertex(3), 4);
    EXPECT_EQ(branch_counts(tree, spec.choices)[0], 3);
    EXPECT_EQ(verify(tree, plans_of(tree, spec)).message(), "");
    EXPECT_FALSE(PlannedTree(tree, spec_with(tree, Exchange::direct)).has_merged());
}

TEST(Merged, StepsKeepTheLevelsOfTheGivenTree) {
    const Tree tree = tree_of("((0 1) (2 3 4))");
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    choices[1].exchange = choices[4].exchange = Exchange::merged;
    PlanSpec spec = spec_with(tree, Exchange::direct);
    spec.choices = choices;
    for (const Plan& plan : plans_of(tree, spec))
        for (const Step& step : plan.body.steps) EXPECT_EQ(step.level, 1);
}

/// Four of eight branches are behind a link of 8 GB/s: it carries 4 * 4 / 8 of the vector for the
/// 7/8 that each of them sends.
TEST(Merged, ASharedLinkIsAsSlowAsWhatAllItsBranchesSend) {
    TreeSpec spec = two_level_tree({4, 4}).spec();
    for (TreeSpec& branch : spec.children) {
        branch.uplink = {8, 2};
        for (TreeSpec& leaf : branch.children) leaf.uplink = {50, 1};
    }
    const Tree tree = Tree::make(spec).value();
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    choices[1].exchange = choices[6].exchange = Exchange::merged;
    PlanSpec call = spec_with(tree, Exchange::direct, 1 << 20);
    call.choices = choices;
    const PlannedTree planned(tree, call);
    EXPECT_DOUBLE_EQ(planned.tree().vertex(1).uplink.bandwidth_gbytes_per_s, 8 * 7.0 / 16);
    EXPECT_DOUBLE_EQ(planned.tree().vertex(1).uplink.latency_us, 3);
    const auto bytes = expected_on_uplinks(tree, call);
    EXPECT_DOUBLE_EQ(bytes[1], 2 * 4.0 * (1 << 20) * 16 / 8);
    const auto counted = bytes_on_uplinks(tree, plans_of(tree, call));
    EXPECT_NEAR(static_cast<double>(counted[1].up), bytes[1], 0.01 * bytes[1]);
}

TEST(Merged, TheRootAndAnotherCodecAreRefused) {
    const Tree tree = tree_of("((0 1) (2 3))");
    PlanSpec spec = spec_with(tree, Exchange::merged);
    EXPECT_NE(Planner::make(tree, spec).status().message().find("the root"), std::string::npos);
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    choices[1] = {Exchange::merged, CodecId::nm_2_4};
    spec.granule_elems = 512;
    spec.choices = choices;
    EXPECT_NE(Planner::make(tree, spec).status().message().find("its codec is 2:4, must be exact"),
              std::string::npos);
}

/// Single exchanges are tested only where branches are alike: elsewhere some holders send one
/// message more than others.
TEST(Links, LoadsOfEveryExchangeAreWhatPlansSend) {
    std::vector<std::pair<const char*, Exchange>> cases{
        {"((0 1) (2 3 4))", Exchange::direct},
        {"((0 (1 2)) 3 (4 5 6 7))", Exchange::direct},
        {"((0 1) (2 3 4 5 6) 7)", called("recursive")},
        {"((0 1) (2 3))", Exchange::single},
        {"((0 1 2) (3 4 5))", Exchange::single}};
    for (const Exchange exchange : split_exchanges())
        cases.emplace_back("((0 1 2) (3 4 5) (6 7 8))", exchange);
    for (const auto& [text, exchange] : cases) {
        const Tree tree = tree_of(text);
        const PlanSpec spec = spec_with(tree, exchange, 1 << 20);
        const auto expected = expected_on_uplinks(tree, spec);
        const auto counted = bytes_on_uplinks(tree, plans_of(tree, spec));
        for (std::size_t link = 1; link < counted.size(); ++link)
            EXPECT_NEAR(static_cast<double>(std::max(counted[link].up, counted[link].down)),
                        expected[link], 0.01 * expected[link])
                << text << " " << name_of(exchange) << " link " << link;
    }
}

}  // namespace
}  // namespace gradcoll
