// tests/mover/execution_test.cpp - carries plans out with real bytes: what comes back is what left,
// within the memory limit, whatever takes longer.
#include "mover/execution/execution.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/clock.hpp"
#include "mover/analysis/memory.hpp"
#include "mover/check/check.hpp"
#include "mover/plan/planner.hpp"
#include "mover/random_steps.hpp"

namespace gradcoll::mover {
namespace {

struct Scene {
    Program program;
    Rooms rooms;
    PlannedStep step;
};

/// Makes layers of one tensor of `bytes` each, and a device that holds half of them.
Scene half_of_the_activations(std::int64_t layers, std::int64_t bytes, double forward_us,
                              double link_gbytes_per_s = 1) {
    Description description;
    std::vector<ListedLayer> listed;
    for (std::int64_t l = 0; l < layers; ++l)
        listed.push_back({.name = "l" + std::to_string(l),
                          .parameters = 1000,
                          .kept = {{"out", bytes}},
                          .times = {.forward_us = forward_us, .backward_us = 2 * forward_us}});
    description.model = {"row", std::move(listed)};
    Cluster& cluster = description.cluster;
    cluster.device_memory = cluster.host_memory = most_bytes;
    cluster.device_tflops = cluster.device_memory_gbytes_per_s = 1;
    cluster.network_gbytes_per_s = 1;
    cluster.link_gbytes_per_s = link_gbytes_per_s;
    Scene scene;
    auto program = program_of(description);
    EXPECT_TRUE(program.ok()) << program.status().message();
    scene.program = std::move(program).value();
    const std::int64_t peak = peak_of(memory_of(scene.program.ranks.front())).bytes;
    auto rooms = rooms_of(description, scene.program, peak - layers / 2 * bytes);
    EXPECT_TRUE(rooms.ok()) << rooms.status().message();
    scene.rooms = std::move(rooms).value();
    auto step = plan_moves(scene.program, scene.rooms, MovableKinds{.least_bytes = 1});
    EXPECT_TRUE(step.ok()) << step.status().message();
    scene.step = std::move(step).value();
    return scene;
}

void spin(double us) {
    const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(us * 1000);
    while (now_ns() < until) {
    }
}

/// Runs a step: an operator that makes a tensor fills it, and those that use it check that it is
/// unchanged. `busy_us` says how long each operator computes. Stops at the first wrong byte.
template <class Busy>
void run_step(Execution& execution, std::uint64_t seed, Busy&& busy_us) {
    const RankProgram& rank = execution.rank();
    std::vector<std::vector<std::size_t>> uses(rank.operators.size());
    std::vector<bool> filled(rank.tensors.size());
    for (std::size_t t = 0; t < rank.tensors.size(); ++t)
        for (const std::int32_t op : rank.tensors[t].uses)
            uses[static_cast<std::size_t>(op)].push_back(t);
    const auto begun = execution.begin_step();
    ASSERT_TRUE(begun.ok()) << begun.message();
    std::vector<std::byte> expected;
    for (std::size_t n = 0; n < rank.operators.size(); ++n) {
        const Status ready = execution.begin_operator(static_cast<std::int32_t>(n));
        ASSERT_TRUE(ready.ok()) << ready.message();
        for (const std::size_t t : uses[n]) {
            const auto data = execution.tensor(static_cast<std::int32_t>(t));
            ASSERT_TRUE(data.ok()) << data.status().message();
            const auto bytes = static_cast<std::size_t>(rank.tensors[t].bytes);
            Chance chance(seed * 1'000'003 + t);
            expected.resize(bytes + 8);
            for (std::size_t b = 0; b < bytes; b += 8) {
                const std::uint64_t word = chance();
                std::memcpy(expected.data() + b, &word, 8);
            }
            if (filled[t])
                ASSERT_EQ(0, std::memcmp(expected.data(), *data, bytes))
                    << "tensor " << t << " at operator " << n;
            else
                std::memcpy(*data, expected.data(), bytes);
            filled[t] = true;
        }
        spin(busy_us(n));
        ASSERT_TRUE(execution.end_operator(static_cast<std::int32_t>(n)).ok());
    }
    const Status ended = execution.end_step();
    ASSERT_TRUE(ended.ok()) << ended.message();
}

std::unique_ptr<Execution> execution_of(const Scene& scene, std::size_t rank = 0) {
    auto made = Execution::make(scene.program.ranks[rank], scene.step.plan.ranks[rank],
                                scene.step.plan.step_ticks, scene.rooms.ranks[rank]);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return std::move(made).value();
}

TEST(Execution, BytesThatLeaveComeBackUnderACapOfHalf) {
    const Scene scene = half_of_the_activations(12, 200'000, 1000);
    ASSERT_EQ(0, scene.step.slowdown());
    const auto execution = execution_of(scene);
    for (std::uint64_t step = 1; step <= 3; ++step) {
        run_step(*execution, step, [](std::size_t) { return 0.0; });
        EXPECT_EQ(static_cast<std::int64_t>(step), execution->figures().steps);
    }
    const ExecutionFigures& figures = execution->figures();
    EXPECT_GE(figures.moves, 6);
    EXPECT_EQ(2 * 200'000 * figures.moves, figures.moved_bytes);
    EXPECT_LE(figures.peak_bytes, scene.rooms.ranks[0].device_bytes);
    // The lane's rate is kept: a nanosecond for each byte, each way, and its latency.
    EXPECT_GE(figures.moving, figures.moved_bytes + 2 * figures.moves * 10'000);
}

TEST(Execution, OperatorsFasterThanPlannedWaitAndAreRight) {
    // A tensor takes 10 ms each way, which operators of 20 ms hide.
    const Scene scene = half_of_the_activations(12, 200'000, 20'000, 0.02);
    ASSERT_EQ(0, scene.step.slowdown());
    const auto execution = execution_of(scene);
    run_step(*execution, 7, [](std::size_t) { return 0.0; });
    const ExecutionFigures& figures = execution->figures();
    EXPECT_GT(figures.waits_for_memory, 0);
    EXPECT_GT(figures.waited_for_memory, 0);
    EXPECT_GE(figures.longest_wait_of, 0);
    EXPECT_LT(figures.overlap(), 0.95);
    EXPECT_LE(figures.peak_bytes, scene.rooms.ranks[0].device_bytes);
}

TEST(Execution, RandomPlansAreCarriedOutWhateverOperatorsTake) {
    int moves = 0, ran = 0;
    for (std::uint64_t seed = 0; ran < 150; ++seed) {
        Chance chance(seed);
        Description description = random_description(chance);
        description.cluster.link_gbytes_per_s = 4;
        Scene scene;
        auto program = program_of(description);
        ASSERT_TRUE(program.ok());
        scene.program = std::move(program).value();
        std::int64_t peak = 1;
        for (const RankProgram& rank : scene.program.ranks)
            peak = std::max(peak, peak_of(memory_of(rank)).bytes);
        auto rooms = rooms_of(description, scene.program,
                              std::max<std::int64_t>(1, peak * from_to(chance, 40, 90) / 100));
        ASSERT_TRUE(rooms.ok());
        scene.rooms = std::move(rooms).value();
        auto step = plan_moves(scene.program, scene.rooms, {true, true, true, true, 1});
        if (!step.ok()) continue;
        scene.step = std::move(step).value();
        ASSERT_TRUE(check_plan(scene.program, scene.rooms, scene.step.plan).ok());
        ++ran;
        const auto rank = static_cast<std::size_t>(
            from_to(chance, 0, static_cast<std::int64_t>(scene.program.ranks.size()) - 1));
        const auto execution = execution_of(scene, rank);
        for (std::uint64_t n = 0; n < 2; ++n)
            run_step(*execution, n, [&](std::size_t) {
                return static_cast<double>(from_to(chance, 0, 3) == 0 ? from_to(chance, 0, 60) : 0);
            });
        if (HasFatalFailure()) FAIL() << "seed " << seed << ", rank " << rank;
        EXPECT_LE(execution->figures().peak_bytes, scene.rooms.ranks[rank].device_bytes);
        moves += static_cast<int>(execution->figures().moves);
    }
    EXPECT_GT(moves, 300);
}

TEST(Execution, WhatIsNotNextIsRefusedAndAStepMayBeLeft) {
    const Scene scene = half_of_the_activations(4, 1000, 10);
    const auto execution = execution_of(scene);
    const auto message = [](const Status& status) { return status.message(); };
    EXPECT_EQ("no step is under way; begin one first", message(execution->begin_operator(0)));
    ASSERT_TRUE(execution->begin_step().ok());
    EXPECT_EQ("a step is under way; end it first", message(execution->begin_step()));
    EXPECT_EQ("op is 1; next of 12 is 0", message(execution->begin_operator(1)));
    EXPECT_EQ("op is 0, and none runs", message(execution->end_operator(0)));
    ASSERT_TRUE(execution->begin_operator(0).ok());
    EXPECT_EQ("op is 1, while operator 0 runs", message(execution->begin_operator(1)));
    EXPECT_EQ("the step has not come to its end: 0 of 12 operators have ended",
              message(execution->end_step()));
    EXPECT_FALSE(execution->tensor(-1).ok());
    EXPECT_FALSE(execution->tensor(1'000'000).ok());
    // Its destructor ends what is under way.
}

/// Returns the resident memory of the process.
std::int64_t resident_bytes() {
    std::int64_t pages = 0, resident = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    EXPECT_NE(nullptr, file);
    EXPECT_EQ(2, std::fscanf(file, "%ld %ld", &pages, &resident));
    std::fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

TEST(Execution, TensorsThatStayTakeMemoryWhenTheyAreAskedForAndCountBefore) {
    constexpr std::int64_t bytes = std::int64_t{256} << 20;
    Program program{{"l"}, {"x"}, {}};
    RankProgram& rank = program.ranks.emplace_back();
    rank.operators.push_back({.duration = 1});
    rank.tensors.push_back(
        {.kind = MemoryKind::parameters, .stays = true, .layer = 0, .bytes = bytes, .uses = {0}});
    const std::int64_t before = resident_bytes();
    const auto made = Execution::make(rank, {{0}, {}, 0}, 1, {bytes, {ticks_per_second, 0}});
    ASSERT_TRUE(made.ok());
    EXPECT_LT(resident_bytes() - before, bytes / 4);
    ASSERT_TRUE((*made)->begin_step().ok());
    ASSERT_TRUE((*made)->begin_operator(0).ok());
    const auto data = (*made)->tensor(0);
    ASSERT_TRUE(data.ok());
    EXPECT_EQ(std::byte{0}, (*data)[bytes - 1]);
    EXPECT_GT(resident_bytes() - before, bytes / 2);
    ASSERT_TRUE((*made)->end_operator(0).ok());
    ASSERT_TRUE((*made)->end_step().ok());
    EXPECT_EQ(bytes, (*made)->figures().peak_bytes);
}

TEST(Execution, TensorsThatStayKeepWhatIsInThemFromStepToStep) {
    const Scene scene = half_of_the_activations(6, 20'000, 100);
    const auto execution = execution_of(scene);
    const RankProgram& rank = execution->rank();
    std::int32_t stays = 0;
    while (!rank.tensors[static_cast<std::size_t>(stays)].stays) ++stays;
    const auto before = execution->tensor(stays);
    ASSERT_TRUE(before.ok());
    EXPECT_EQ(std::byte{0}, **before);
    **before = std::byte{42};
    ASSERT_TRUE(execution->begin_step().ok());
    EXPECT_FALSE(execution->tensor(stays).ok()) << "no operator runs";
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(rank.operators.size()); ++n) {
        ASSERT_TRUE(execution->begin_operator(n).ok());
        ASSERT_TRUE(execution->end_operator(n).ok());
    }
    ASSERT_TRUE(execution->end_step().ok());
    EXPECT_EQ(std::byte{42}, **execution->tensor(stays));
}

}  // namespace
}  // namespace gradcoll::mover
