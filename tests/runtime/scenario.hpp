// What the executor tests share: a tree, a shape, every rank's data, and one rank's part of running
// it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "collectives/build/planner.hpp"
#include "collectives/plan/plan.hpp"
#include "reduce/reducer.hpp"
#include "runtime/executor.hpp"
#include "topology/text.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

using Floats = std::vector<float>;

struct Scenario {
    std::string tree = "(0 1)";
    PlanSpec spec;  ///< fp32
    Executor::Options options;

    Tree make_tree() const {
        Result<Tree> made = tree_from_expression(tree, -1);
        if (!made.ok()) throw std::runtime_error(made.status().message());
        return std::move(made).value();
    }
    int rank_count() const { return make_tree().rank_count(); }
};

/// Returns an fp32 allreduce; lossy codecs get a fitting granule, and every vertex uses them in
/// both phases.
inline Scenario scenario(const std::string& tree, std::int64_t count,
                         CodecId codec = CodecId::exact, Exchange exchange = Exchange::direct) {
    Scenario made;
    made.tree = tree;
    made.spec.count_elems = count;
    made.spec.granule_elems = static_cast<std::int64_t>(codec_block_elems(codec));
    made.spec.down_codec = codec;
    const auto vertices = static_cast<std::size_t>(made.make_tree().vertex_count());
    made.spec.choices = std::vector(vertices, VertexChoice{exchange, codec});
    return made;
}

/// Returns small whole numbers on every 16th element: sums are exact, and no codec loses anything.
inline Floats sparse_input(int rank, std::int64_t count) {
    Floats values(static_cast<std::size_t>(count), 0.0F);
    for (std::size_t i = 0; i < values.size(); i += 16)
        values[i] = static_cast<float>(
            static_cast<int>((i / 16 + static_cast<std::size_t>(rank) * 3) % 7) - 2);
    return values;
}

/// Returns anything between -1 and 1: what is lost depends on every detail.
inline Floats dense_input(int rank, std::int64_t count) {
    std::mt19937 random(static_cast<unsigned>(rank) + 17);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    Floats values(static_cast<std::size_t>(count));
    for (float& value : values) value = uniform(random);
    return values;
}

/// Returns whole numbers on all elements: sums are exact, but sparse codecs drop some.
inline Floats whole_input(int rank, std::int64_t count) {
    Floats values = dense_input(rank, count);
    for (float& value : values) value = static_cast<float>(static_cast<int>(value * 50));
    return values;
}

using MakeInput = Floats (*)(int rank, std::int64_t count);

inline Floats sum_of_all(MakeInput input, int ranks, std::int64_t count) {
    Floats sum(static_cast<std::size_t>(count), 0.0F);
    for (int rank = 0; rank < ranks; ++rank) {
        const Floats one = input(rank, count);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
    }
    return sum;
}

inline std::unique_ptr<Executor> make_executor(const Scenario& scenario, Channel& channel) {
    Result<Plan> plan = make_plan(scenario.make_tree(), scenario.spec, channel.rank());
    if (!plan.ok()) throw std::runtime_error(plan.status().message());
    auto executor = Executor::make(std::make_shared<const Plan>(std::move(plan).value()), channel,
                                   scenario.options);
    if (!executor.ok()) throw std::runtime_error(executor.status().message());
    return std::move(executor).value();
}

/// Waits with a watchdog: a hang is a failed test, not a hung one.
inline Status finish(Executor& executor) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (;;) {
        const Result<Progress> progress = executor.advance();
        if (!progress.ok()) return progress.status();
        if (*progress == Progress::complete) return {};
        if (*progress == Progress::advanced) continue;
        if (std::chrono::steady_clock::now() > deadline) {
            ADD_FAILURE() << "rank " << executor.plan().rank << " hangs";
            return Status(Code::internal, "hang");
        }
        std::this_thread::yield();
    }
}

struct Outcome {
    Status status;
    Floats output;
};

inline Binding binding_of(const Floats& input, Floats& output, std::uint32_t sequence = 0) {
    Binding binding;
    binding.input = input.data();
    binding.output = output.data();
    binding.reducer = reducer_for(ReduceOp::sum, ElementType::f32);
    binding.sequence = sequence;
    return binding;
}

/// Does one rank's part of one allreduce.
inline Outcome run_once(Executor& executor, MakeInput input, std::uint32_t sequence = 0) {
    const PlanSpec& spec = executor.plan().spec;
    const Floats in = input(executor.plan().rank, spec.count_elems);
    Outcome outcome{{}, spec.in_place ? in : Floats(in.size(), -99.0F)};
    const Binding binding =
        binding_of(spec.in_place ? outcome.output : in, outcome.output, sequence);
    outcome.status = executor.start(binding);
    if (outcome.status.ok()) outcome.status = finish(executor);
    return outcome;
}

}  // namespace gradcoll
