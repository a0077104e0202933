// tests/mover/row_test.cpp - steps in a row: what lives in the host may go home in the next step
// and come in the one before. No step is longer for that, the checker accepts three of them in a
// row, and all bytes are right from step to step.
#include <gtest/gtest.h>

#include <cstring>

#include "mover/analysis/memory.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/check/check.hpp"
#include "mover/execution/execution.hpp"
#include "mover/plan/carry_out.hpp"
#include "mover/plan/planner.hpp"
#include "mover/plan/planner_parts.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

/// Makes a forward operator of 100 ticks and an update of 10. A state of 500 bytes is for the
/// update; its bytes take 50 ticks each way.
struct Row {
    Program program;
    Rooms rooms;

    Row() {
        program.layer_names = {"a"};
        program.tensor_names = {"x"};
        RankProgram rank;
        rank.operators.push_back({.kind = OperatorKind::forward, .duration = 100});
        rank.operators.push_back({.kind = OperatorKind::update, .duration = 10});
        rank.tensors.push_back(
            {.kind = MemoryKind::optimizer, .stays = true, .layer = 0, .bytes = 500, .uses = {1}});
        program.ranks = {rank};
        rooms.ranks = {{500, {10 * ticks_per_second, 0}}};
        rooms.rates = {{10 * ticks_per_second, false, {{0, 1}}}};
        rooms.hosts = {{4096, false, {{0, 1}}}};
    }
    MovePlan plan(Span transfer, Span prefetch, Tick step) const {
        return {{{{0, 100}, {{0, 1, 0, 1, transfer, prefetch, 0}}, 4096}}, step};
    }
    std::string verdict(const MovePlan& plan) const {
        return check_plan(program, rooms, plan).message();
    }
};

TEST(Row, WhatGoesHomeDoesSoBesideTheNextForward) {
    const Row row;
    const CarryOut carry_out(row.program, row.rooms);
    const auto gaps =
        gaps_of(row.program.ranks[0], row.rooms.ranks[0].lane, {.least_bytes = 1}, {0});
    ASSERT_EQ(2U, gaps.size());
    const std::vector<RankChoice> choice = {{{gaps[0], 0}, {gaps[1], 0}}};
    // Of 110 ticks the link is busy for 50 each way.
    EXPECT_EQ(110, carry_out.step(choice));
    const auto plan = carry_out.plan(choice);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(110, plan->step_ticks);
    const Move& move = plan->ranks[0].moves[0];
    EXPECT_EQ(160, move.transfer.end);
    EXPECT_EQ(50, move.prefetch.start) << "it waits until the step before has sent it home";
}

TEST(Row, TheCheckerLooksAtTheStepsBeforeAndAfter) {
    const Row row;
    EXPECT_EQ("", row.verdict(row.plan({110, 160}, {50, 100}, 110)));
    EXPECT_EQ("rank 0: a x comes back at 159, before it is gone at 160",
              row.verdict(row.plan({110, 160}, {49, 99}, 110)));
    EXPECT_EQ("operators end at 110, the next step begins at 109",
              row.verdict(row.plan({110, 160}, {50, 100}, 109)));
    // Its memory is taken until it has gone, also in the next step.
    Row full = row;
    full.program.ranks[0].operators[0].workspace_bytes = 1;
    EXPECT_EQ("rank 0: 501 bytes in the device at 0, 500 are allowed",
              full.verdict(row.plan({110, 160}, {50, 100}, 110)));
    // A second one of the same bytes needs the link as long, and it is full.
    Row busy = row;
    busy.program.ranks[0].tensors.push_back(busy.program.ranks[0].tensors[0]);
    busy.rooms.ranks[0].device_bytes = 1000;
    busy.rooms.hosts[0].most = 8192;
    MovePlan two = row.plan({110, 160}, {0, 50}, 160);
    two.ranks[0].moves.push_back({1, 1, 0, 1, {160, 210}, {50, 100}, 4096});
    two.ranks[0].pool_bytes = 8192;
    EXPECT_EQ("", busy.verdict(two));
    two.step_ticks = 110;
    EXPECT_EQ("rank 0: a x comes back at 110, before it is gone at 160", busy.verdict(two));
}

TEST(Row, WhatComesAheadIsThereAsTheStepBegins) {
    Row row;  // the forward operator uses the state, too
    row.program.ranks[0].tensors[0].uses = {0};
    MovePlan plan = row.plan({100, 150}, {160, 210}, 210);
    plan.ranks[0].moves[0] = {0, 0, 2, 0, {100, 150}, {160, 210}, 0};
    EXPECT_EQ("", row.verdict(plan));
    plan.step_ticks = 209;
    EXPECT_EQ("rank 0: a x is back at 210, operator 0 needs it at 209", row.verdict(plan));
    plan.step_ticks = 150;
    EXPECT_EQ("rank 0: a x comes ahead at 160, when the step is over at 150", row.verdict(plan));
    plan.ranks[0].moves[0].prefetch = {149, 199};
    EXPECT_EQ("rank 0: a x comes back at 149, before it is gone at 150", row.verdict(plan));
}

struct Planned {
    Program program;
    Rooms rooms;
};

Planned some_step(Chance& chance) {
    Planned out;
    const Description description = random_description(chance);
    out.program = program_of(description).value();
    std::int64_t peak = 1;
    for (const RankProgram& rank : out.program.ranks)
        peak = std::max(peak, peak_of(memory_of(rank)).bytes);
    out.rooms = rooms_of(description, out.program,
                         std::max<std::int64_t>(1, peak * from_to(chance, 40, 95) / 100))
                    .value();
    return out;
}

/// Returns the choice of any family, for what the device has room for.
std::vector<RankChoice> some_choice(const Planned& planned, Chance& chance) {
    const Starts starts = timeline_of(planned.program).value();
    const auto families = families_of(planned.program, {true, true, true, true, 1}, {});
    const ChoiceFamily& family = families[static_cast<std::size_t>(
        from_to(chance, 0, static_cast<std::int64_t>(families.size()) - 1))];
    std::vector<RankChoice> out;
    for (std::size_t r = 0; r < planned.program.ranks.size(); ++r) {
        const RankProgram& rank = planned.program.ranks[r];
        const RankRoom& room = planned.rooms.ranks[r];
        const HeldMemory unmoved(held_by_operator(rank));
        const Ladder ladder(rank, starts[r], unmoved, gaps_of(rank, room.lane, family),
                            family.pattern);
        if (ladder.least() > room.device_bytes) return {};
        out.push_back(ladder.choice_for(room.device_bytes));
    }
    return out;
}

TEST(Row, StepsAreShortestAndRightInTenThousandByChance) {
    int compared = 0, late = 0, ahead = 0;
    for (std::uint64_t seed = 0; compared < cases(10'000); ++seed) {
        Chance chance(seed);
        const Planned planned = some_step(chance);
        const auto choices = some_choice(planned, chance);
        if (choices.empty()) continue;
        const CarryOut carry_out(planned.program, planned.rooms);
        const auto in_a_row = carry_out.step(choices);
        if (!in_a_row) continue;
        // It is shortest: the search for anything shorter finds nothing.
        ASSERT_FALSE(carry_out.step(choices, *in_a_row)) << "seed " << seed;
        MovePlan plan = carry_out.plan(choices).value();
        ASSERT_EQ(*in_a_row, plan.step_ticks) << "seed " << seed;
        Rooms rooms = planned.rooms;
        for (Sharing& host : rooms.hosts) host.most = most_bytes;
        bool is_late = false;
        for (std::size_t r = 0; r < plan.ranks.size(); ++r) {
            lay_out_pool(planned.program.ranks[r], plan.ranks[r]);
            for (const Move& move : plan.ranks[r].moves) {
                is_late |= move.transfer.end > plan.step_ticks;
                ahead += move.is_ahead() ? 1 : 0;
            }
        }
        late += is_late ? 1 : 0;
        const Status right = check_plan(planned.program, rooms, plan);
        ASSERT_TRUE(right.ok()) << "seed " << seed << ": " << right.message();
        ++compared;
    }
    EXPECT_GT(late, cases(1'000))
        << "a move under way when the step ends makes steps in a row shorter";
    EXPECT_GT(ahead, cases(100));
}

/// Fills what an operator makes, and all that stays in each step anew, and checks what it finds.
void run_step(Execution& execution, std::uint8_t step, const std::vector<std::byte>& found) {
    const RankProgram& rank = execution.rank();
    std::vector<std::byte> now = found;
    ASSERT_TRUE(execution.begin_step().ok());
    for (std::size_t n = 0; n < rank.operators.size(); ++n) {
        const auto op = static_cast<std::int32_t>(n);
        const Status begun = execution.begin_operator(op);
        ASSERT_TRUE(begun.ok()) << begun.message();
        for (std::size_t t = 0; t < rank.tensors.size(); ++t) {
            const DeviceTensor& tensor = rank.tensors[t];
            if (!std::binary_search(tensor.uses.begin(), tensor.uses.end(), op)) continue;
            const auto data = execution.tensor(static_cast<std::int32_t>(t));
            ASSERT_TRUE(data.ok()) << data.status().message();
            const auto bytes = static_cast<std::size_t>(tensor.bytes);
            const bool is_first = tensor.uses.front() == op;
            for (std::size_t b = 0; b < bytes && (!is_first || tensor.stays); b += 97)
                ASSERT_EQ(now[t], (*data)[b])
                    << "tensor " << t << " at operator " << n << " of step " << int{step};
            if (is_first) now[t] = static_cast<std::byte>(step + t);
            std::memset(*data, static_cast<int>(now[t]), bytes);
        }
        ASSERT_TRUE(execution.end_operator(op).ok());
    }
    const Status ended = execution.end_step();
    ASSERT_TRUE(ended.ok()) << ended.message();
}

/// Returns what each tensor that stays has after a step; `step` 0: as the execution was made.
std::vector<std::byte> left_by(std::uint8_t step, const RankProgram& rank) {
    std::vector<std::byte> out;
    for (std::size_t t = 0; t < rank.tensors.size(); ++t)
        out.push_back(step == 0 ? std::byte{0} : static_cast<std::byte>(step + t));
    return out;
}

TEST(Row, BytesAreRightFromStepToStepWhateverIsUnderWay) {
    int late = 0, ahead = 0, ran = 0;
    for (std::uint64_t seed = 0; ran < 400; ++seed) {
        Chance chance(seed);
        const Planned planned = some_step(chance);
        const auto choices = some_choice(planned, chance);
        if (choices.empty()) continue;
        const CarryOut carry_out(planned.program, planned.rooms);
        auto plan = carry_out.plan(choices);
        if (!plan.ok()) continue;
        const auto r = static_cast<std::size_t>(
            from_to(chance, 0, static_cast<std::int64_t>(choices.size()) - 1));
        const RankProgram& rank = planned.program.ranks[r];
        lay_out_pool(rank, plan->ranks[r]);
        for (const Move& move : plan->ranks[r].moves) {
            late += move.transfer.end > plan->step_ticks ? 1 : 0;
            ahead += move.is_ahead() ? 1 : 0;
        }
        RankRoom room = planned.rooms.ranks[r];
        auto made = Execution::make(rank, plan->ranks[r], plan->step_ticks, room);
        ASSERT_TRUE(made.ok()) << made.status().message();
        Execution& execution = **made;
        for (std::uint8_t step = 1; step <= 4; ++step) {
            ASSERT_NO_FATAL_FAILURE(
                run_step(execution, step, left_by(static_cast<std::uint8_t>(step - 1), rank)))
                << "seed " << seed << ", rank " << r;
            // Now and then the program looks at what stays, or takes the same plan anew.
            if (step % 2 == 0 && seed % 2 == 0) {
                ASSERT_TRUE(execution.follow(rank, plan->ranks[r], plan->step_ticks, room).ok());
            }
            for (std::size_t t = 0; step % 2 == 0 && t < rank.tensors.size(); ++t) {
                if (!rank.tensors[t].stays || rank.tensors[t].uses.empty()) continue;
                const auto data = execution.tensor(static_cast<std::int32_t>(t));
                ASSERT_TRUE(data.ok()) << data.status().message();
                for (std::int64_t b = 0; b < rank.tensors[t].bytes; b += 97)
                    ASSERT_EQ(static_cast<std::byte>(step + t), (*data)[b])
                        << "seed " << seed << ", tensor " << t << " after step " << int{step};
            }
        }
        EXPECT_LE(execution.figures().peak_bytes, room.device_bytes);
        ++ran;
    }
    EXPECT_GT(late, 50);
    EXPECT_GT(ahead, 5);
}

}  // namespace
}  // namespace gradcoll::mover
