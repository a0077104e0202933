// tests/mover/analysis_test.cpp - what a step holds and when, for models that can be worked out by
// hand.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "mover/analysis/memory.hpp"
#include "mover/analysis/rank_builder.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/descriptions.hpp"

namespace gradcoll::mover {
namespace {

/// Describes layers that keep 100 bytes, with 10 us forward and 20 us backward.
Description equal_layers(std::int64_t count, const std::string& parallel,
                         std::int64_t parameters = 0) {
    Description out;
    out.model.body = std::vector<ListedLayer>{{.name = "l",
                                               .repeat = count,
                                               .parameters = parameters,
                                               .input_bytes = 10,
                                               .kept = {{"x", 100}},
                                               .forward_flops = 0,
                                               .times = {10, 20}}};
    out.parallel = *parallel_of(*read_document("--parallel", parallel));
    out.cluster = *cluster_of(*document_of_text("f", cluster_text));
    out.cluster.network_latency_us = 0;
    out.cluster.network_gbytes_per_s = 1e6;  // 10 bytes take a tick
    return out;
}

std::vector<std::int64_t> activation_peaks(const Description& description) {
    std::vector<std::int64_t> peaks;
    const auto program = program_of(description);
    EXPECT_TRUE(program.ok()) << program.status().message();
    for (const RankProgram& rank : program->ranks)
        peaks.push_back(peak_of(memory_of(rank), MemoryKind::activations));
    return peaks;
}

using Bytes = std::vector<std::int64_t>;

TEST(MoverAnalysis, GPipeHoldsAllMicroBatches) {
    EXPECT_EQ((Bytes{800, 800, 800, 800}),
              activation_peaks(equal_layers(4, "pipeline=4,micro_batches=8,schedule=gpipe")));
}

TEST(MoverAnalysis, OneForwardOneBackwardHoldsFewerLaterInThePipeline) {
    EXPECT_EQ((Bytes{400, 300, 200, 100}),
              activation_peaks(equal_layers(4, "pipeline=4,micro_batches=8")));
    EXPECT_EQ((Bytes{200, 200, 200, 100}),
              activation_peaks(equal_layers(4, "pipeline=4,micro_batches=2")));
}

/// The peaks are (p * v + p - 1 - 2 * rank) chunks: Narayanan et al., arXiv 2104.04473.
TEST(MoverAnalysis, InterleavedHoldsMoreThanOneForwardOneBackward) {
    EXPECT_EQ((Bytes{1100, 900, 700, 500}),
              activation_peaks(equal_layers(8, "pipeline=4,virtual_stages=2,micro_batches=8")));
}

TEST(MoverAnalysis, EachPassComesOnceInEachSchedule) {
    for (const char* text : {"pipeline=4,micro_batches=8", "pipeline=4,micro_batches=3",
                             "pipeline=4,micro_batches=8,schedule=gpipe",
                             "pipeline=4,virtual_stages=3,micro_batches=8"}) {
        const Parallel parallel = *parallel_of(*read_document("--parallel", text));
        for (std::int32_t rank = 0; rank < 4; ++rank) {
            std::set<std::tuple<bool, int, int>> seen;
            for (const Pass& pass : passes_of(parallel, rank)) {
                EXPECT_TRUE(seen.emplace(pass.forward, pass.chunk, pass.micro_batch).second);
                EXPECT_TRUE(pass.forward || seen.contains({true, pass.chunk, pass.micro_batch}))
                    << text;
            }
            EXPECT_EQ(2 * parallel.micro_batches * parallel.virtual_stages,
                      static_cast<std::int64_t>(seen.size()));
        }
    }
}

/// The step takes (m + p - 1) forward and backward, and a tick for each of 2 * (p - 1) messages.
TEST(MoverAnalysis, TheStepHasTheBubbleOfItsPipeline) {
    const Description description = equal_layers(4, "pipeline=4,micro_batches=8");
    const Program program = *program_of(description);
    const auto starts = timeline_of(program);
    ASSERT_TRUE(starts.ok());
    const Tick step = end_of(program, *starts);
    EXPECT_GE(step, 11 * 30'000 + 6);
    EXPECT_LE(step, 11 * 30'000 + 40);
}

TEST(MoverAnalysis, FullRecomputationKeepsInputsAndMakesTheRestAgain) {
    const Description description = equal_layers(4, "micro_batches=2,recompute=full");
    const Program program = *program_of(description);
    const auto memory = memory_of(program.ranks[0]);
    EXPECT_EQ(40, peak_of(memory, MemoryKind::activations));
    EXPECT_EQ(100, peak_of(memory, MemoryKind::recomputed));
    const Tick step = end_of(program, *timeline_of(program));
    EXPECT_EQ(2 * 4 * 40'000, step);
}

TEST(MoverAnalysis, ZeroSharesMoreOfTheStateWithEachStage) {
    const auto state = [](const char* parallel) {
        const Program program = *program_of(equal_layers(1, parallel, 1000));
        const auto memory = memory_of(program.ranks[0]);
        return Bytes{peak_of(memory, MemoryKind::parameters),
                     peak_of(memory, MemoryKind::gradients),
                     peak_of(memory, MemoryKind::optimizer)};
    };
    EXPECT_EQ((Bytes{2000, 4000, 12000}), state("data=4"));
    EXPECT_EQ((Bytes{2000, 4000, 3000}), state("data=4,zero=1"));
    EXPECT_EQ((Bytes{2000, 1000, 3000}), state("data=4,zero=2"));
    EXPECT_EQ((Bytes{500, 1000, 3000}), state("data=4,zero=3"));
}

TEST(MoverAnalysis, ParametersOfLlama2AreThoseOfThePaper) {
    const auto model = model_of(*read_document(
        "--model", std::string(GRADCOLL_TESTS_DIR) + "/../examples/mover/llama-2-7b.json"));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto layers =
        layers_on_device(*model, {}, *cluster_of(*document_of_text("f", cluster_text)));
    ASSERT_TRUE(layers.ok());
    std::int64_t parameters = 0;
    for (const DeviceLayer& layer : *layers) parameters += layer.parameters;
    EXPECT_EQ(6'738'415'616, parameters);
}

TEST(MoverAnalysis, RanksThatWaitForEachOtherInACircleAreFound) {
    Program program;
    program.layer_names = {"a"};
    program.ranks.resize(2);
    program.ranks[0].operators = {{.needs_rank = 1}};
    program.ranks[1].operators = {{.needs_rank = 0}};
    EXPECT_EQ("the ranks wait for each other in a circle", timeline_of(program).status().message());
}

TEST(MoverAnalysis, LinksAndHostsAreSharedByTheDevicesThatStandThere) {
    // Ranks have 3 devices, hosts 4: the second host has one of rank 0's neighbours, and so on.
    Description description = equal_layers(4, "pipeline=4,data=3");
    description.cluster.devices_per_host = 4;
    description.cluster.devices_per_link = 2;
    const Program program = *program_of(description);
    const auto rooms = rooms_of(description, program, 0);
    ASSERT_TRUE(rooms.ok());
    ASSERT_EQ(3U, rooms->hosts.size());
    using Devices = std::vector<std::pair<std::int32_t, std::int64_t>>;
    EXPECT_EQ((Devices{{0, 3}, {1, 1}}), rooms->hosts[0].devices);
    EXPECT_EQ((Devices{{1, 2}, {2, 2}}), rooms->hosts[1].devices);
    EXPECT_EQ((Devices{{2, 1}, {3, 3}}), rooms->hosts[2].devices);
    EXPECT_EQ(12'500'000'000, rooms->ranks[0].lane.bytes_per_second);
}

}  // namespace
}  // namespace gradcoll::mover
