// Which messages are encoded on their way: both ends find the same, whatever tree and exchanges.
#include "runtime/coded_hops.hpp"

#include <gtest/gtest.h>

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
    const auto program = Program::make(schedule, plan.spec.elem_bytes, {.coded = all});
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

TEST(CodedHops, AreThoseOfTheWayUp) {
    const Tree tree = tree_from_expression("(0 1 2)", -1).value();
    PlanSpec spec;
    spec.count_elems = 9 * 512;
    spec.granule_elems = 512;
    spec.down_codec = CodecId::int8;
    spec.choices = std::vector(static_cast<std::size_t>(tree.vertex_count()),
                               VertexChoice{Exchange::direct, CodecId::int8});
    const Found found = found_in(tree, spec);
    EXPECT_EQ(found.sends.size(), 6U);   // each to each
    EXPECT_EQ(found.messages, 4U * 6U);  // and back, at both ends
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
    const auto program = Program::make(plan.body, 4, {.coded = {&peer, 1}});
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
