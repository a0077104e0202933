// tests/mover/states_test.cpp - model states that live in the host, gradients that are summed
// there, and moves beside collectives that hold the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "mover/analysis/build.hpp"
#include "mover/analysis/memory.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/check/check.hpp"
#include "mover/execution/execution.hpp"
#include "mover/plan/planner.hpp"

namespace gradcoll::mover {
namespace {

constexpr std::int64_t layers = 6;
constexpr std::int64_t numbers = 20'000;  ///< parameters of a layer: 12 bytes of optimizer each
constexpr std::int64_t kept = 100'000;

Description row_of_layers(std::int64_t data) {
    Description out;
    std::vector<ListedLayer> listed;
    for (std::int64_t l = 0; l < layers; ++l)
        listed.push_back({.name = "l" + std::to_string(l),
                          .parameters = numbers,
                          .kept = {{"out", kept}},
                          .times = {.forward_us = 300, .backward_us = 600}});
    out.model = {"row", std::move(listed)};
    out.parallel.data = data;
    Cluster& cluster = out.cluster;
    cluster.device_memory = cluster.host_memory = most_bytes;
    cluster.device_tflops = cluster.device_memory_gbytes_per_s = 1;
    cluster.network_gbytes_per_s = cluster.link_gbytes_per_s = 1;
    return out;
}

struct Planned {
    Program program;
    Rooms rooms;
    PlannedStep step;

    const RankProgram& rank() const { return program.ranks.front(); }
    const RankMoves& moves() const { return step.plan.ranks.front(); }
    const DeviceTensor& tensor_of(const Move& move) const {
        return rank().tensors[static_cast<std::size_t>(move.tensor)];
    }
    Span time_of(std::size_t op) const {
        return {moves().starts[op], moves().starts[op] + rank().operators[op].duration};
    }
};

Planned planned(const Description& description, std::int64_t device_bytes,
                const MovableKinds& kinds) {
    Planned out;
    out.program = *program_of(description);
    out.rooms = *rooms_of(description, out.program, device_bytes);
    auto step = plan_moves(out.program, out.rooms, kinds);
    EXPECT_TRUE(step.ok()) << step.status().message();
    if (!step.ok()) return out;
    out.step = std::move(step).value();
    const Status right = check_plan(out.program, out.rooms, out.step.plan);
    EXPECT_TRUE(right.ok()) << right.message();
    return out;
}

constexpr MovableKinds optimizer_alone{.activations = false, .optimizer = true, .least_bytes = 1};

TEST(States, ThatDoNotFitTogetherLiveInTheHostAndComeLayerByLayer) {
    const Description description = row_of_layers(1);
    // The device has room for parameters, gradients and activations, and the optimizer of two
    // layers of six.
    const std::int64_t most = layers * (numbers * 6 + kept) + 2 * numbers * 12;
    ASSERT_LT(most, layers * numbers * 18) << "its states alone are more than the device";
    const Planned plan = planned(description, most, optimizer_alone);
    std::int64_t at_home = 0;
    for (const Move& move : plan.moves().moves) {
        if (!move.lives_in_host()) continue;
        EXPECT_EQ(MemoryKind::optimizer, plan.tensor_of(move).kind);
        EXPECT_EQ(OperatorKind::update,
                  plan.rank().operators[static_cast<std::size_t>(move.needed_by)].kind);
        EXPECT_LE(move.prefetch.end, plan.moves().starts[static_cast<std::size_t>(move.needed_by)]);
        EXPECT_GE(move.transfer.start, plan.time_of(static_cast<std::size_t>(move.after)).end);
        at_home += plan.tensor_of(move).bytes;
    }
    // As the step begins the device holds at most the other states.
    EXPECT_GE(at_home, layers * numbers * 18 - most);
    EXPECT_LT(at_home, layers * numbers * 12) << "and no more of them than it takes";
    // The pictures show it, too.
    const auto in_host = host_memory_over_time(plan.rank(), plan.moves());
    EXPECT_GE(in_host.front().bytes, at_home);
    for (const MemoryPoint& point :
         device_memory_over_time(plan.rank(), plan.moves(), plan.step.plan.step_ticks)) {
        EXPECT_GE(point.bytes, 0);
        EXPECT_LE(point.bytes, most);
    }
}

TEST(States, ThatFitTogetherStayAtHomeInTheDevice) {
    const Planned plan = planned(row_of_layers(1), layers * (numbers * 18 + kept), optimizer_alone);
    EXPECT_TRUE(plan.moves().moves.empty());
}

TEST(States, OfTheHostKeepWhatIsInThemFromStepToStep) {
    const Planned plan = planned(row_of_layers(1), layers * (numbers * 6 + kept) + 2 * numbers * 12,
                                 optimizer_alone);
    auto made = Execution::make(plan.rank(), plan.moves(), plan.step.plan.step_ticks,
                                plan.rooms.ranks.front());
    ASSERT_TRUE(made.ok());
    Execution& execution = **made;
    const auto& rank = execution.rank();
    for (int step = 1; step <= 3; ++step) {
        ASSERT_TRUE(execution.begin_step().ok());
        for (std::size_t n = 0; n < rank.operators.size(); ++n) {
            const auto op = static_cast<std::int32_t>(n);
            ASSERT_TRUE(execution.begin_operator(op).ok());
            for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
                const DeviceTensor& tensor = rank.tensors[t];
                if (tensor.kind != MemoryKind::optimizer || tensor.uses.front() != op) continue;
                const auto data = execution.tensor(static_cast<std::int32_t>(t));
                ASSERT_TRUE(data.ok());
                for (std::int64_t b = 0; b < tensor.bytes; ++b) {
                    ASSERT_EQ(static_cast<std::byte>(step - 1), (*data)[b]) << "tensor " << t;
                    (*data)[b] = static_cast<std::byte>(step);
                }
            }
            ASSERT_TRUE(execution.end_operator(op).ok());
        }
        ASSERT_TRUE(execution.end_step().ok());
        EXPECT_LE(execution.figures().peak_bytes, plan.rooms.ranks.front().device_bytes);
    }
    // Between steps they are where they live.
    for (const Move& move : plan.moves().moves) {
        const auto data = execution.tensor(move.tensor);
        ASSERT_TRUE(data.ok());
        EXPECT_EQ(std::byte{3}, **data);
    }
}

TEST(States, KeepTheirBytesWhenAnotherPlanIsFollowed) {
    const Description description = row_of_layers(1);
    const std::int64_t all = layers * (numbers * 18 + kept);
    const Planned in_device = planned(description, all, optimizer_alone);
    const Planned in_host =
        planned(description, layers * (numbers * 6 + kept) + 2 * numbers * 12, optimizer_alone);
    const RankRoom room = in_device.rooms.ranks.front();
    auto made =
        Execution::make(in_device.rank(), in_device.moves(), in_device.step.plan.step_ticks, room);
    ASSERT_TRUE(made.ok());
    Execution& execution = **made;
    const auto& rank = execution.rank();
    const auto for_each_state = [&](auto&& body) {
        for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
            if (!rank.tensors[t].stays) continue;
            const auto data = execution.tensor(static_cast<std::int32_t>(t));
            ASSERT_TRUE(data.ok()) << data.status().message();
            body(t, *data, static_cast<std::size_t>(rank.tensors[t].bytes));
        }
    };
    for_each_state([](std::size_t t, std::byte* data, std::size_t bytes) {
        std::memset(data, static_cast<int>(t + 1), bytes);
    });
    for (const Planned* next : {&in_host, &in_host, &in_device}) {
        const Status taken =
            execution.follow(next->rank(), next->moves(), next->step.plan.step_ticks, room);
        ASSERT_TRUE(taken.ok()) << taken.message();
        ASSERT_TRUE(execution.begin_step().ok());
        EXPECT_EQ("a step is under way; end it first",
                  execution.follow(next->rank(), next->moves(), next->step.plan.step_ticks, room)
                      .message());
        for (std::int32_t n = 0; n < static_cast<std::int32_t>(rank.operators.size()); ++n) {
            ASSERT_TRUE(execution.begin_operator(n).ok());
            ASSERT_TRUE(execution.end_operator(n).ok());
        }
        ASSERT_TRUE(execution.end_step().ok());
        for_each_state([](std::size_t t, const std::byte* data, std::size_t bytes) {
            EXPECT_EQ(static_cast<std::byte>(t + 1), data[0]);
            EXPECT_EQ(static_cast<std::byte>(t + 1), data[bytes - 1]);
        });
    }
    EXPECT_GT(execution.figures().steps, 2);
    EXPECT_LE(execution.figures().peak_bytes, all);
}

/// Returns whether a move is under way while gradients are summed.
bool meets_a_sum(const Planned& plan) {
    for (std::size_t n = 0; n < plan.rank().operators.size(); ++n) {
        if (plan.rank().operators[n].kind != OperatorKind::reduce) continue;
        const Span sum = plan.time_of(n);
        for (const Move& move : plan.moves().moves)
            for (const Span& span : {move.transfer, move.prefetch})
                if (span.start < sum.end && sum.start < span.end) return true;
    }
    return false;
}

TEST(Collectives, MovesKeepOffALinkThatASumUses) {
    const MovableKinds all_kinds{true, true, true, true, 1};
    Description beside = row_of_layers(2), over = beside;
    over.cluster.network_over_link = true;
    int met = 0, moved = 0;
    for (std::int64_t percent = 30; percent < 100; percent += 5) {
        const std::int64_t most = layers * (numbers * 18 + kept) * percent / 100;
        met += meets_a_sum(planned(beside, most, all_kinds)) ? 1 : 0;
        const Planned apart = planned(over, most, all_kinds);
        moved += apart.moves().moves.empty() ? 0 : 1;
        EXPECT_FALSE(meets_a_sum(apart)) << percent;
    }
    EXPECT_GT(met, 0) << "or this test shows nothing";
    EXPECT_GT(moved, 5);
}

TEST(Collectives, ASumOverTheLinkIsNoFasterThanItsShare) {
    Description description = row_of_layers(2);
    description.cluster.network_gbytes_per_s = 100;
    const Tick alone = end_of(*program_of(description), *timeline_of(*program_of(description)));
    description.cluster.network_over_link = true;
    const Tick shared = end_of(*program_of(description), *timeline_of(*program_of(description)));
    // Each layer's 4 bytes for each parameter cross once, at 1 GB/s instead of 100.
    EXPECT_NEAR(static_cast<double>(layers * numbers * 4) * 0.99,
                static_cast<double>(shared - alone), 10);
}

TEST(Collectives, GathersOverTheLinkTakeHalfOfItFromMoves) {
    Description description = row_of_layers(2);
    description.cluster.network_over_link = true;
    const Program program = *program_of(description);
    EXPECT_EQ(1'000'000'000, rooms_of(description, program, 0)->ranks[0].lane.bytes_per_second);
    description.parallel.zero = 3;
    EXPECT_EQ(500'000'000, rooms_of(description, program, 0)->ranks[0].lane.bytes_per_second);
}

TEST(Collectives, GradientsThatAreSummedInTheHostAreNotBroughtBackFirst) {
    Description description = row_of_layers(2);
    description.parallel.reduce_in_host = true;
    const Planned plan = planned(description, layers * (numbers * 18 + kept), optimizer_alone);
    std::int64_t summed = 0;
    for (const Move& move : plan.moves().moves) {
        const DeviceTensor& tensor = plan.tensor_of(move);
        if (tensor.kind != MemoryKind::gradients) continue;
        const Span sum = plan.time_of(static_cast<std::size_t>(tensor.host_use));
        EXPECT_LE(move.transfer.end, sum.start);
        EXPECT_GE(move.prefetch.start, sum.end);
        ++summed;
    }
    EXPECT_EQ(layers, summed);
    // Sums of the host and moves share its memory, if that is a limit.
    EXPECT_TRUE(meets_a_sum(plan));
    description.cluster.host_memory_gbytes_per_s = 4;
    EXPECT_FALSE(
        meets_a_sum(planned(description, layers * (numbers * 18 + kept), optimizer_alone)));
}

TEST(Collectives, ASumInTheHostWorksWhereTheBytesAre) {
    Description description = row_of_layers(2);
    description.parallel.reduce_in_host = true;
    description.cluster.host_memory_gbytes_per_s = 4;
    const Planned plan = planned(description, layers * (numbers * 18 + kept), optimizer_alone);
    auto made = Execution::make(plan.rank(), plan.moves(), plan.step.plan.step_ticks,
                                plan.rooms.ranks.front());
    ASSERT_TRUE(made.ok());
    Execution& execution = **made;
    const auto& rank = execution.rank();
    ASSERT_TRUE(execution.begin_step().ok());
    int seen = 0;
    for (std::size_t n = 0; n < rank.operators.size(); ++n) {
        const auto op = static_cast<std::int32_t>(n);
        ASSERT_TRUE(execution.begin_operator(op).ok());
        for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
            const DeviceTensor& tensor = rank.tensors[t];
            if (tensor.kind != MemoryKind::gradients) continue;
            const bool is_last = tensor.uses.back() == op;
            if (!is_last && tensor.uses.front() != op && tensor.host_use != op) continue;
            const auto data = execution.tensor(static_cast<std::int32_t>(t));
            ASSERT_TRUE(data.ok()) << data.status().message();
            // Backward writes 1, the sum makes it 2, and the update finds that.
            if (tensor.host_use == op) {
                ASSERT_EQ(std::byte{1}, (*data)[tensor.bytes - 1]);
                std::memset(*data, 2, static_cast<std::size_t>(tensor.bytes));
            } else if (is_last) {
                ASSERT_EQ(std::byte{2}, (*data)[tensor.bytes - 1]);
                ++seen;
            } else {
                std::memset(*data, 1, static_cast<std::size_t>(tensor.bytes));
            }
        }
        ASSERT_TRUE(execution.end_operator(op).ok());
    }
    ASSERT_TRUE(execution.end_step().ok());
    EXPECT_EQ(layers, seen);
}

/// Makes forward, backward, a sum that holds the link, and an update, of 10 ticks each. The
/// gradient of 100 bytes moves around the sum, at 20 bytes a tick.
Planned around_a_sum() {
    Planned out;
    out.program.layer_names = {"a"};
    out.program.tensor_names = {"g"};
    RankProgram rank;
    for (const OperatorKind kind : {OperatorKind::forward, OperatorKind::backward,
                                    OperatorKind::reduce, OperatorKind::update})
        rank.operators.push_back({.kind = kind,
                                  .micro_batch = -1,
                                  .duration = 10,
                                  .holds_lane = kind == OperatorKind::reduce});
    rank.tensors.push_back({.kind = MemoryKind::gradients,
                            .stays = true,
                            .layer = 0,
                            .bytes = 100,
                            .uses = {1, 3},
                            .host_use = 2});
    out.program.ranks = {rank};
    out.rooms.ranks = {{100, {20 * ticks_per_second, 0}}};
    out.rooms.rates = {{20 * ticks_per_second, false, {{0, 1}}}};
    out.rooms.hosts = {{100, false, {{0, 1}}}};
    RankMoves moves;
    moves.starts = {0, 10, 25, 40};
    moves.moves = {{0, 1, 3, 3, {20, 25}, {35, 40}, 0}};
    moves.pool_bytes = 100;
    out.step.plan = {{moves}, 50};
    return out;
}

std::string verdict(const Planned& plan) {
    return check_plan(plan.program, plan.rooms, plan.step.plan).message();
}

TEST(Collectives, TheCheckerSaysWhatIsWrong) {
    EXPECT_EQ("", verdict(around_a_sum()));

    Planned late = around_a_sum();
    late.step.plan.ranks[0].moves[0].transfer = {21, 26};
    EXPECT_EQ(
        "rank 0: the TRANSFER of a g is under way at 25, while reduce a, part 0 holds the link",
        verdict(late));
    late.program.ranks[0].operators[2].holds_lane = false;
    EXPECT_EQ(
        "rank 0: reduce a, part 0 works on a g in the host from 25 to 35, where it is from 26 to "
        "35",
        verdict(late));

    Planned left_out = around_a_sum();
    left_out.step.plan.ranks[0].moves.clear();
    EXPECT_EQ("rank 0: reduce a, part 0 works on a g in the host, and it does not move",
              verdict(left_out));

    // Another rank's device is on the same link: the sum takes its whole share.
    Planned crowded = around_a_sum();
    crowded.rooms.rates[0].most -= 1;
    crowded.step.plan.ranks[0].moves.clear();
    crowded.program.ranks[0].tensors[0].host_use = -1;
    EXPECT_EQ("moves at 25 go at 20000000000 bytes a second over a way of 19999999999",
              verdict(crowded));
}

}  // namespace
}  // namespace gradcoll::mover
