// Which messages are encoded on their way: both ends find the same, whatever tree and exchanges.
#include "runtime/coded_hops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "collectives/build/planner.hpp"
#include "runtime/program.hpp"
#include "support/random_trees.hpp"
#include "topology/text.hpp"

namespace gradcoll {
namespace {

/// A Hop is sender, receiver, stage and elements.
using Hop = std::tuple<int, int, int, std::int64_t>;

struct Found {
    std::map<Hop, int> sends, recvs;
    std::size_t messages = 0;  ///< number of messages with a header
};

void add(const Plan& plan, const Schedule& schedule, Found& found) {
    std::vector<int> all(static_cast<std::size_t>(plan.rank_count));
    std::iota(all.begin(), all.end(), 0);
    const auto program =
        Program::make(schedule, plan.spec.elem_bytes, {.coded = {all, plan.encodings_go_one_hop}});
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        if (!is_message(step.kind) || step.codec == CodecId::exact) continue;
        ++found.messages;
        if (!program->coded().has(i)) continue;
        const bool sends = step.kind == StepKind::send;
        const Hop hop = sends ? Hop{plan.rank, step.peer, step.stage, step.range.size()}
                              : Hop{step.peer, plan.rank, step.stage, step.range.size()};
        ++(sends ? found.sends : found.recvs)[hop];
    }
}

Found found_in(const Tree& tree, const PlanSpec& spec) {
    Found found;
    for (int rank = 0; rank < tree.rank_count(); ++rank) {
        const Plan plan = make_plan(tree, spec, rank).value();
        add(plan, plan.body, found);
        add(plan, plan.tail, found);
    }
    return found;
}

PlanSpec spec_of(const Tree& tree, CodecId codec, std::mt19937_64& random) {
    PlanSpec spec;
    spec.count_elems = 20'011;
    spec.granule_elems = lossy_block_elems;
    spec.in_place = random() % 2 == 0;
    spec.down_codec = codec;
    std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()));
    for (VertexChoice& choice : choices)
        choice = {static_cast<Exchange>(random() % 3), random() % 4 == 0 ? CodecId::exact : codec};
    spec.choices = choices;
    return spec;
}

TEST(CodedHops, AreTheSameAtBothEnds) {
    std::mt19937_64 random(19);
    std::size_t coded = 0;
    for (int round = 0; round < 60; ++round) {
        const Tree tree = testing::random_tree(2 + static_cast<int>(random() % 11), random);
        for (const char* codec : {"int8", "bound/abs=0.01"}) {
            const Found found =
                found_in(tree, spec_of(tree, codec_from_name(codec).value(), random));
            EXPECT_EQ(found.sends, found.recvs);
            coded += found.sends.size();
        }
    }
    EXPECT_GT(coded, 1000U);
}

TEST(CodedHops, AreThoseOfBothWays) {
    const Tree tree = tree_from_expression("(0 1 2)", -1).value();
    PlanSpec spec;
    spec.count_elems = 9 * 512;
    spec.granule_elems = 512;
    spec.down_codec = CodecId::int8;
    spec.choices = std::vector(static_cast<std::size_t>(tree.vertex_count()),
                               VertexChoice{Exchange::direct, CodecId::int8});
    const Found found = found_in(tree, spec);
    EXPECT_EQ(found.sends.size(), 2U * 6U);  // each to each, and back
    EXPECT_EQ(found.messages, 4U * 6U);      // at both ends
}

PlanSpec int8_spec(const Tree& tree) {
    PlanSpec spec;
    spec.count_elems = 12 * 512;
    spec.granule_elems = 512;
    spec.down_codec = CodecId::int8;
    spec.choices = std::vector(static_cast<std::size_t>(tree.vertex_count()),
                               VertexChoice{Exchange::direct, CodecId::int8});
    return spec;
}

/// Returns whether `later` waits for `before`.
bool waits(const Program& program, std::size_t later, std::size_t before) {
    const auto successors = program.successors(before);
    return std::find(successors.begin(), successors.end(), later) != successors.end();
}

/// Nobody here encodes: what decoding gives comes back with the messages, and is written over the
/// elements only when all messages have left.
TEST(CodedHops, OwnersGetBackWhatTheirEncodingDecodesTo) {
    for (const char* expression : {"(0 1)", "(0 1 2)", "(0 1 2 3)"}) {
        SCOPED_TRACE(expression);
        const Tree tree = tree_from_expression(expression, -1).value();
        const Plan plan = make_plan(tree, int8_spec(tree), 0).value();
        ASSERT_TRUE(plan.encodings_go_one_hop);
        std::vector<int> peers(static_cast<std::size_t>(tree.rank_count() - 1));
        std::iota(peers.begin(), peers.end(), 1);
        const auto program = Program::make(plan.body, 4, {.coded = {peers, true}});
        ASSERT_TRUE(program.ok());
        const CodedHops& coded = program->coded();
        std::vector<std::size_t> down_sends;
        std::size_t decode = 0;
        std::int64_t echoed = 0;
        for (std::size_t i = 0; i < plan.body.steps.size(); ++i) {
            const Step& step = plan.body.steps[i];
            EXPECT_TRUE(step.kind != StepKind::encode || coded.is_idle(i));
            EXPECT_EQ(coded.has(i), is_message(step.kind));
            if (step.kind == StepKind::send && step.stage == 1) down_sends.push_back(i);
            if (step.kind == StepKind::decode && decode == 0) decode = i;
        }
        ASSERT_EQ(down_sends.size(), peers.size());
        EXPECT_EQ(coded.is_idle(decode), peers.size() == 1);
        EXPECT_EQ(coded.is_decoded(decode), peers.size() > 1);
        for (const std::size_t send : down_sends) {
            EXPECT_TRUE(waits(*program, decode, send));
            for (const CodedHops::Run& run : coded.runs_of(send))
                if (run.echo != CodedHops::Run::Echo::none) echoed += run.range.size();
        }
        EXPECT_EQ(echoed, plan.body.steps[decode].range.size()) << "each element once";
    }
}

/// What comes up is added where it comes, if there is one such message. What comes down is written
/// to its place at once: so the receive waits for those that read there.
TEST(CodedHops, WhatComesLandsInItsPlace) {
    const Tree tree = tree_from_expression("(0 1)", -1).value();
    PlanSpec spec = int8_spec(tree);
    spec.in_place = true;
    const Plan plan = make_plan(tree, spec, 0).value();
    const int peer = 1;
    const auto program = Program::make(plan.body, 4, {.coded = {{&peer, 1}, true}});
    ASSERT_TRUE(program.ok());
    const CodedHops& coded = program->coded();
    std::size_t landed = 0;
    for (std::size_t i = 0; i < plan.body.steps.size(); ++i) {
        if (!coded.has(i) || !coded.lands(i)) continue;
        ++landed;
        EXPECT_TRUE(coded.is_idle(coded.decode_of(i)));
        if (plan.body.steps[coded.decode_of(i)].kind == StepKind::decode_reduce) continue;
        EXPECT_EQ(plan.body.steps[coded.decode_of(i)].kind, StepKind::decode);
        for (std::size_t j = 0; j < plan.body.steps.size(); ++j)
            EXPECT_TRUE(!coded.leaves(j) || waits(*program, i, coded.send_of(j)));
    }
    EXPECT_EQ(landed, 2U);
}

/// A ring and lower lossy levels pass encodings on, and so need them.
TEST(CodedHops, OfTheWayDownNeedEncodingsThatGoOneHop) {
    const auto goes_one_hop = [](const char* expression, Exchange exchange, CodecId below) {
        const Tree tree = tree_from_expression(expression, -1).value();
        PlanSpec spec = int8_spec(tree);
        std::vector<VertexChoice> choices(static_cast<std::size_t>(tree.vertex_count()),
                                          VertexChoice{Exchange::direct, below});
        choices[0] = {exchange, CodecId::int8};
        spec.choices = choices;
        return make_plan(tree, spec, 0).value().encodings_go_one_hop;
    };
    EXPECT_TRUE(goes_one_hop("(0 1 2)", Exchange::direct, CodecId::exact));
    EXPECT_FALSE(goes_one_hop("(0 1 2)", Exchange{1}, CodecId::exact)) << "a ring passes on";
    EXPECT_TRUE(goes_one_hop("(0 1)", Exchange{1}, CodecId::exact));
    EXPECT_TRUE(goes_one_hop("((0 1) (2 3))", Exchange::direct, CodecId::exact));
    EXPECT_FALSE(goes_one_hop("((0 1) (2 3))", Exchange::direct, CodecId::int8));
}

/// The elements are read by the send: who overwrites them waits for it.
TEST(CodedHops, WhoeverWaitsForAnEncodingWaitsForItsSend) {
    const Tree tree = tree_from_expression("(0 1)", -1).value();
    PlanSpec spec;
    spec.count_elems = 2048;
    spec.granule_elems = 512;
    spec.in_place = true;
    spec.down_codec = CodecId::int8;
    spec.choices = std::vector(static_cast<std::size_t>(tree.vertex_count()),
                               VertexChoice{Exchange::direct, CodecId::int8});
    const Plan plan = make_plan(tree, spec, 0).value();
    const int peer = 1;
    const auto program = Program::make(plan.body, 4, {.coded = {{&peer, 1}, false}});
    ASSERT_TRUE(program.ok());
    const auto& steps = plan.body.steps;
    std::size_t checked = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!program->coded().leaves(i)) continue;
        const std::uint32_t send = program->coded().send_of(i);
        ASSERT_EQ(program->successors(i).size(), 1U);
        EXPECT_EQ(program->successors(i)[0], send);
        for (const std::uint32_t next : program->successors(send)) {
            EXPECT_EQ(steps[next].kind, StepKind::decode) << "what comes down is written there";
            ++checked;
        }
    }
    EXPECT_EQ(checked, 1U);
}

}  // namespace
}  // namespace gradcoll
