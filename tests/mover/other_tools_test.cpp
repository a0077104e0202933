// tests/mover/other_tools_test.cpp - files of Calculon and vTrain are recognised by their keys, and
// read with the meaning that they have there.
#include <gtest/gtest.h>

#include "mover/descriptions.hpp"
#include "mover/input/other_tools.hpp"

namespace gradcoll::mover {
namespace {

constexpr const char* calculon_model =
    R"({"hidden": 64, "feedforward": 256, "seq_size": 32, "attn_heads": 4, "attn_size": 16,
        "num_blocks": 6})";
constexpr const char* calculon_parallel =
    R"({"num_procs": 16, "tensor_par": 2, "pipeline_par": 2, "data_par": 4, "tensor_par_net": 0,
        "batch_size": 48, "microbatch_size": 2, "datatype": "float16", "fused_activation": true,
        "attention_type": "multihead", "activation_recompute": "attn_only",
        "pipeline_interleaving": 3, "optimizer_sharding": true, "tensor_par_comm_type": "rs_ag",
        "weight_offload": true, "training": true})";
constexpr const char* calculon_cluster =
    R"({"matrix": {"float16": {"tflops": 100, "gflops_efficiency": [[10, 0.8], [0, 0.1]]}},
        "vector": {"float16": {"tflops": 10, "gflops_efficiency": [[0, 0.1]]}},
        "mem1": {"GiB": 16, "GBps": 1000, "MB_efficiency": [[10, 0.5], [0, 0.1]]},
        "mem2": {"GiB": 64, "GBps": 32, "MB_efficiency": [[10, 0.25]]},
        "networks": [{"bandwidth": 300, "efficiency": 0.5, "size": 4, "latency": 0.00001},
                     {"bandwidth": 25, "efficiency": 0.8, "size": 65536, "latency": 0.00002}]})";
constexpr const char* vtrain =
    R"({"num_gpus": 16, "gpu_name": "V100", "tensor_parallel_size": 2, "data_parallel_size": 2,
        "global_batch_size": 32, "micro_batch_size": 4, "num_layers": 8, "hidden_size": 64,
        "num_attention_heads": 4, "max_length": 128, "pipeline_scheduling": "gpipe",
        "inter_node_bandwidth": 320, "intra_node_bandwidth": 150, "node_size": 4,
        "trace_path": "trace"})";

/// Returns `text` with the value of `key` replaced.
std::string with(const std::string& text, const std::string& key, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(text);
    json[nlohmann::json::json_pointer(key)] = value;
    return json.dump();
}

TEST(MoverOtherTools, ACalculonModelIsItsBlocks) {
    const auto model = model_of(*document_of_text("f", calculon_model));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto& transformer = std::get<TransformerModel>(model->body);
    ASSERT_EQ(1U, transformer.blocks.size());
    EXPECT_EQ(6, transformer.blocks[0].repeat);
    EXPECT_EQ(16, std::get<SelfAttention>(transformer.blocks[0].parts[0].body).head_size);
    EXPECT_EQ(0, transformer.vocabulary);
    EXPECT_EQ(Attention::eager, transformer.attention);
}

TEST(MoverOtherTools, ACalculonExecutionCountsMicroBatches) {
    const auto read = parallel_of(*document_of_text("f", calculon_parallel));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(6, read->micro_batches);  // 48 / (4 * 2)
    EXPECT_EQ(2, read->micro_batch_size);
    EXPECT_EQ(3, read->virtual_stages);
    EXPECT_EQ(ScheduleKind::interleaved, read->schedule);
    EXPECT_EQ(Recompute::selective, read->recompute);
    EXPECT_EQ(1, read->zero);
    EXPECT_TRUE(read->sequence_parallel);
    EXPECT_TRUE(read->fused_activation);
}

TEST(MoverOtherTools, ACalculonSystemHasEfficienciesOfLargeOperations) {
    const auto read = cluster_of(*document_of_text("f", calculon_cluster));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(std::int64_t{16} << 30, read->device_memory);
    EXPECT_EQ(std::int64_t{256} << 30, read->host_memory);
    EXPECT_EQ(4, read->devices_per_host);
    EXPECT_DOUBLE_EQ(0.8, read->device_efficiency);
    EXPECT_DOUBLE_EQ(500, read->device_memory_gbytes_per_s);
    EXPECT_DOUBLE_EQ(8, read->link_gbytes_per_s);
    EXPECT_DOUBLE_EQ(150, read->tensor_gbytes_per_s);
    EXPECT_DOUBLE_EQ(20, read->network_gbytes_per_s);
    EXPECT_DOUBLE_EQ(20, read->network_latency_us);
    const auto endless =
        cluster_of(*document_of_text("f", with(calculon_cluster, "/mem1/GiB", 80'000'000'000)));
    ASSERT_TRUE(endless.ok()) << endless.status().message();
    EXPECT_EQ(most_bytes, endless->device_memory);
}

TEST(MoverOtherTools, OneVTrainFileSaysAllThree) {
    const auto document = *document_of_text("f", vtrain);
    const auto model = model_of(document);
    const auto parallel = parallel_of(document);
    const auto cluster = cluster_of(document);
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(parallel.ok()) << parallel.status().message();
    ASSERT_TRUE(cluster.ok()) << cluster.status().message();
    const auto& transformer = std::get<TransformerModel>(model->body);
    EXPECT_EQ(50257, transformer.vocabulary);
    EXPECT_EQ(128, transformer.positions);
    EXPECT_EQ(256, std::get<FeedForward>(transformer.blocks.at(0).parts[1].body).width);
    EXPECT_EQ(4, parallel->pipeline);  // 16 / (2 * 2)
    EXPECT_EQ(4, parallel->micro_batches);
    EXPECT_EQ(Recompute::full, parallel->recompute);
    EXPECT_EQ(ScheduleKind::gpipe, parallel->schedule);
    EXPECT_EQ(4, cluster->devices_per_host);
    EXPECT_EQ(std::int64_t{32} << 30, cluster->device_memory);
    EXPECT_DOUBLE_EQ(150, cluster->tensor_gbytes_per_s);
    EXPECT_DOUBLE_EQ(10, cluster->network_gbytes_per_s);  // 320 Gb/s of four devices
}

TEST(MoverOtherTools, WhatCannotBeFollowedIsRefused) {
    const auto parallel = [](const std::string& text) { return fault_of(parallel_of, text); };
    EXPECT_EQ("f: /num_procs: found 8, allowed is tensor_par * pipeline_par * data_par",
              parallel(with(calculon_parallel, "/num_procs", 8)));
    EXPECT_EQ(
        "f: /batch_size: found 44, allowed are multiples of 8, the samples that all data-parallel "
        "ranks take at a time, up to 65536 times",
        parallel(with(calculon_parallel, "/batch_size", 44)));
    EXPECT_EQ("f: /batch_size: found 40, interleaved allows multiples of pipeline, 2",
              parallel(with(calculon_parallel, "/batch_size", 40)));
    EXPECT_EQ("f: /activation_recompute: found \"some\", allowed are none, attn_only, full",
              parallel(with(calculon_parallel, "/activation_recompute", "some")));
    EXPECT_EQ("f: /training: found false, allowed is true",
              parallel(with(calculon_parallel, "/training", false)));
    EXPECT_EQ("f: /datatype: found \"float8\", allowed are float16, bfloat16",
              parallel(with(calculon_parallel, "/datatype", "float8")));
    EXPECT_EQ(
        "f: /num_gpus: found 18, allowed is tensor_parallel_size * data_parallel_size * "
        "pipeline_parallel_size, of which one may be left out",
        parallel(with(vtrain, "/num_gpus", 18)));
    EXPECT_EQ("f: /pipeline_scheduling: found \"zero\", allowed are 1f1b, gpipe",
              parallel(with(vtrain, "/pipeline_scheduling", "zero")));
    EXPECT_EQ(
        "f: /use_gradient_bucket: found true, allowed is false: sums are taken after the "
        "last backward",
        parallel(with(vtrain, "/use_gradient_bucket", true)));
    EXPECT_EQ("f: /gpu_name: found \"H100\", allowed are A100, V100",
              fault_of(cluster_of, with(vtrain, "/gpu_name", "H100")));
    EXPECT_EQ("f: /hidden: found 0, allowed are integers from 1 to 16777216",
              fault_of(model_of, with(calculon_model, "/hidden", 0)));
    EXPECT_EQ(
        "f: /mem2/MB_efficiency: found an array, allowed are rows [size, efficiency], largest size "
        "first, with 0 < efficiency <= 1",
        fault_of(cluster_of, with(calculon_cluster, "/mem2/MB_efficiency", {{1, 2}, {0, 1}})));
    EXPECT_EQ("f: /networks/1/bandwidth: found \"fast\", allowed are numbers from 0.001 to 1000000",
              fault_of(cluster_of, with(calculon_cluster, "/networks/1/bandwidth", "fast")));
}

TEST(MoverOtherTools, AFusedActivationKeepsOneTensorLess) {
    const auto scene = [](const std::string& parallel) {
        return *scene_of({*document_of_text("m", calculon_model), *document_of_text("p", parallel),
                          *document_of_text("c", calculon_cluster), 0});
    };
    const auto names = [&](const std::string& parallel) {
        return scene(parallel).program.tensor_names;
    };
    const auto kept = [](const std::vector<std::string>& all) {
        return std::count(all.begin(), all.end(), "feedforward.up.out");
    };
    EXPECT_EQ(0, kept(names(calculon_parallel)));
    EXPECT_EQ(1, kept(names(with(calculon_parallel, "/fused_activation", false))));
}

}  // namespace
}  // namespace gradcoll::mover
