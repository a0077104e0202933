// tests/mover/frameworks_test.cpp - settings of DeepSpeed and Megatron-LM are recognised by their
// keys, and read with the meaning that they have there.
#include "mover/input/frameworks.hpp"

#include <gtest/gtest.h>

#include "mover/descriptions.hpp"
#include "mover/input/any_form.hpp"

namespace gradcoll::mover {
namespace {

constexpr const char* deepspeed =
    R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2, "bf16": {"enabled": true},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}, "gradient_clipping": 1.0,
        "zero_optimization": {"stage": 3, "overlap_comm": true, "reduce_bucket_size": 5e8,
                              "offload_optimizer": {"device": "cpu", "pin_memory": true},
                              "offload_param": {"device": "none"}}})";
constexpr const char* megatron =
    R"({"tensor-model-parallel-size": 4, "pipeline-model-parallel-size": 2, "world-size": 32,
        "num-layers": 24, "num-layers-per-virtual-pipeline-stage": 4, "micro-batch-size": 2,
        "global-batch-size": 64, "seq-length": 4096, "recompute-granularity": "selective",
        "sequence-parallel": true, "use-distributed-optimizer": true, "bf16": true,
        "lr": 0.0001})";

/// Returns `text` with the value of `key` replaced; null takes it away.
std::string with(const std::string& text, const std::string& key, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(text);
    json[nlohmann::json::json_pointer(key)] = value;
    return json.dump();
}

Parallel read(const std::string& text) {
    const auto parallel = parallel_of(*document_of_text("f", text));
    EXPECT_TRUE(parallel.ok()) << parallel.status().message();
    return parallel.ok() ? *parallel : Parallel{};
}

std::string fault(const std::string& text) {
    return fault_of(parallel_of, text);
}

TEST(MoverDeepSpeed, BatchesSayHowManyRanksThereAre) {
    const Parallel found = read(deepspeed);
    EXPECT_EQ(8, found.data);  // 64 / (4 * 2)
    EXPECT_EQ(1, found.tensor);
    EXPECT_EQ(2, found.micro_batches);
    EXPECT_EQ(4, found.micro_batch_size);
    EXPECT_EQ(3, found.zero);
    EXPECT_EQ(Recompute::none, found.recompute);
}

TEST(MoverDeepSpeed, TheNumberOfDevicesSaysOneOrTwoOfTheBatches) {
    const std::string some =
        with(with(deepspeed, "/world_size", 16), "/tensor_parallel", {{"autotp_size", 2}});
    const Parallel all = read(some);
    EXPECT_EQ(8, all.data);
    EXPECT_EQ(2, all.tensor);
    const Parallel steps = read(with(some, "/gradient_accumulation_steps", nullptr));
    EXPECT_EQ(2, steps.micro_batches);
    const Parallel micro = read(with(some, "/train_micro_batch_size_per_gpu", nullptr));
    EXPECT_EQ(4, micro.micro_batch_size);
    const Parallel batch = read(with(some, "/train_batch_size", nullptr));
    EXPECT_EQ(2, batch.micro_batches);
    EXPECT_EQ(4, batch.micro_batch_size);
    const Parallel total = read(with(with(some, "/gradient_accumulation_steps", nullptr),
                                     "/train_micro_batch_size_per_gpu", nullptr));
    EXPECT_EQ(1, total.micro_batches);
    EXPECT_EQ(8, total.micro_batch_size);
}

TEST(MoverDeepSpeed, ASequenceIsSharedByHeads) {
    const std::string some = with(deepspeed, "/sequence_parallel_size", 4);
    const Parallel batches = read(some);
    EXPECT_EQ(4, batches.context);
    EXPECT_TRUE(batches.context_by_heads);
    EXPECT_EQ(8, batches.data);  // 64 / (4 * 2) samples at once
    EXPECT_EQ(8, read(with(some, "/world_size", 32)).data);
    EXPECT_EQ(
        "f: /world_size: found 6, allowed are multiples of autotp_size and "
        "sequence_parallel_size, 4",
        fault(with(some, "/world_size", 6)));
    EXPECT_FALSE(read(with(deepspeed, "/sequence_parallel_size", 1)).context_by_heads);
}

TEST(MoverDeepSpeed, TypesSayBytes) {
    const auto bytes = [](const std::string& text) {
        const Parallel found = read(text);
        return std::vector{found.parameter_bytes, found.gradient_bytes, found.optimizer_bytes};
    };
    EXPECT_EQ((std::vector<std::int64_t>{2, 2, 12}), bytes(deepspeed));
    EXPECT_EQ((std::vector<std::int64_t>{2, 4, 12}),
              bytes(with(deepspeed, "/data_types", {{"grad_accum_dtype", "fp32"}})));
    EXPECT_EQ((std::vector<std::int64_t>{4, 4, 8}), bytes(with(deepspeed, "/bf16/enabled", false)));
    EXPECT_EQ((std::vector<std::int64_t>{2, 2, 8}),
              bytes(with(deepspeed, "/optimizer/type", "Lion")));
}

TEST(MoverDeepSpeed, CheckpointsMakeActivationsAgain) {
    EXPECT_EQ(Recompute::full,
              read(with(deepspeed, "/activation_checkpointing", {{"cpu_checkpointing", true}}))
                  .recompute);
}

TEST(MoverDeepSpeed, WhatCannotBeFollowedIsRefused) {
    EXPECT_EQ("f: /train_batch_size: found \"auto\", allowed are integers from 1 to 4294967296",
              fault(with(deepspeed, "/train_batch_size", "auto")));
    EXPECT_EQ(
        "f: /train_batch_size: found 60, allowed are multiples of train_micro_batch_size_per_gpu * "
        "gradient_accumulation_steps, 8",
        fault(with(deepspeed, "/train_batch_size", 60)));
    EXPECT_EQ("f: /train_batch_size: found 64, allowed is 32: 4 * 2 * 4 data-parallel ranks",
              fault(with(deepspeed, "/world_size", 4)));
    EXPECT_EQ(
        "f: /world_size: found nothing, allowed is the number of devices, which has to be added, "
        "or all of train_batch_size, train_micro_batch_size_per_gpu and "
        "gradient_accumulation_steps",
        fault(with(deepspeed, "/gradient_accumulation_steps", nullptr)));
    EXPECT_EQ("f: /zero_optimization/stage: found 4, allowed are integers from 0 to 3",
              fault(with(deepspeed, "/zero_optimization/stage", 4)));
    EXPECT_EQ(
        "f: /zero_optimization/offload_optimizer/device: found \"nvme\", allowed are none, cpu",
        fault(with(deepspeed, "/zero_optimization/offload_optimizer/device", "nvme")));
    EXPECT_EQ("f: /zero_optimization: found true, allowed is an object",
              fault(with(deepspeed, "/zero_optimization", true)));
    EXPECT_EQ(
        "f: /zero_optimization/zero_hpz_partition_size: found 8, allowed is 1: there is one copy "
        "of shards",
        fault(with(deepspeed, "/zero_optimization/zero_hpz_partition_size", 8)));
    EXPECT_EQ(
        "f: /optimizer/type: found \"Muon\", allowed are Adam, AdamW, Lamb, Lion, Adagrad, "
        "OneBitAdam, OneBitLamb, ZeroOneAdam",
        fault(with(deepspeed, "/optimizer/type", "Muon")));
    EXPECT_EQ("f: /fp16/enabled: found \"auto\", allowed are true, false",
              fault(with(deepspeed, "/fp16", {{"enabled", "auto"}})));
}

TEST(MoverMegatron, ArgumentsAreAStrategy) {
    const Parallel found = read(megatron);
    EXPECT_EQ(4, found.tensor);
    EXPECT_EQ(2, found.pipeline);
    EXPECT_EQ(4, found.data);
    EXPECT_EQ(3, found.virtual_stages);  // 24 / (2 * 4)
    EXPECT_EQ(ScheduleKind::interleaved, found.schedule);
    EXPECT_EQ(8, found.micro_batches);  // 64 / (4 * 2)
    EXPECT_EQ(2, found.micro_batch_size);
    EXPECT_EQ(4096, found.sequence);
    EXPECT_EQ(1, found.zero);
    EXPECT_EQ(Recompute::selective, found.recompute);
    EXPECT_TRUE(found.sequence_parallel);
    const Parallel shared = read(
        with(with(with(megatron, "/context-parallel-size", 2), "/expert-model-parallel-size", 4),
             "/num-experts", 8));
    EXPECT_EQ(2, shared.context);
    EXPECT_EQ(2, shared.data);  // 32 / (4 * 2 * 2)
    EXPECT_EQ(4, shared.expert);
    const Parallel full = read(
        with(with(with(megatron, "/recompute-granularity", "full"), "/recompute-method", "uniform"),
             "/recompute-num-layers", 1));
    EXPECT_EQ(Recompute::full, full.recompute);
}

TEST(MoverMegatron, BytesAreThoseOfItsDistributedOptimizer) {
    const auto bytes = [](const std::string& text) {
        const Parallel found = read(text);
        return std::vector{found.parameter_bytes, found.gradient_bytes, found.optimizer_bytes};
    };
    EXPECT_EQ((std::vector<std::int64_t>{2, 4, 12}), bytes(megatron));
    const std::string half = with(with(megatron, "/bf16", false), "/fp16", true);
    EXPECT_EQ((std::vector<std::int64_t>{2, 2, 16}), bytes(half));
    EXPECT_EQ((std::vector<std::int64_t>{4, 4, 8}), bytes(with(megatron, "/bf16", false)));
}

TEST(MoverMegatron, ShardingIsAStageOfZero) {
    const std::string fsdp = with(megatron, "/use-megatron-fsdp", true);
    EXPECT_EQ(0, read(fsdp).zero);
    EXPECT_EQ(2, read(with(fsdp, "/data-parallel-sharding-strategy", "optim_grads")).zero);
    EXPECT_EQ(3, read(with(fsdp, "/data-parallel-sharding-strategy", "optim_grads_params")).zero);
    EXPECT_EQ(0, read(with(megatron, "/use-distributed-optimizer", false)).zero);
}

void expect_as_json(const Document& document) {
    const auto found = parallel_of(document);
    ASSERT_TRUE(found.ok()) << found.status().message();
    const Parallel expected = read(megatron);
    EXPECT_EQ(expected.tensor, found->tensor);
    EXPECT_EQ(expected.pipeline, found->pipeline);
    EXPECT_EQ(expected.data, found->data);
    EXPECT_EQ(expected.virtual_stages, found->virtual_stages);
    EXPECT_EQ(expected.micro_batches, found->micro_batches);
    EXPECT_EQ(expected.micro_batch_size, found->micro_batch_size);
    EXPECT_EQ(expected.sequence, found->sequence);
    EXPECT_EQ(expected.zero, found->zero);
    EXPECT_EQ(expected.recompute, found->recompute);
    EXPECT_EQ(expected.sequence_parallel, found->sequence_parallel);
    EXPECT_EQ(expected.gradient_bytes, found->gradient_bytes);
}

TEST(MoverMegatron, ACommandLineSaysTheSame) {
    const auto document = megatron_arguments("run.sh", R"(#!/bin/bash
# --tensor-model-parallel-size 8 is for the larger model
NODES=4
GPUS="8"
WORLD_SIZE=$(($GPUS*$NODES))
ARGS=(--tensor-model-parallel-size 4 --pipeline-model-parallel-size=2 --num-layers 24
  --num-layers-per-virtual-pipeline-stage 4 --micro-batch-size 2 --global-batch-size 64 \
  --seq-length "4096" --recompute-activations --sequence-parallel --lr 1e-4
  --use-distributed-optimizer --bf16 )
torchrun --nproc_per_node $GPUS --nnodes ${NODES} pretrain_gpt.py "${ARGS[@]}"
)");
    ASSERT_TRUE(document.ok()) << document.status().message();
    EXPECT_FALSE(document->json.contains("lr"));
    expect_as_json(*document);
}

TEST(MoverMegatron, YamlSaysTheSame) {
    const auto document = megatron_arguments("f.yaml", R"(# a comment
language_model:
  num_layers: 24   # all
  activation_func: swiglu
model_parallel:
  tensor_model_parallel_size: 4
  --pipeline-model-parallel-size: 2
  num_layers_per_virtual_pipeline_stage: 4
  sequence_parallel: true
  context_parallel_size: 1
world_size: 32
micro_batch_size: 2
global_batch_size: 64
seq_length: 4096
recompute_granularity: 'selective'
recompute_modules: [core_attn]
use_distributed_optimizer: True
fp8: null
bf16: true
)");
    ASSERT_TRUE(document.ok()) << document.status().message();
    expect_as_json(*document);
}

TEST(MoverMegatron, WhatCannotBeFollowedIsRefused) {
    EXPECT_EQ(
        "f: /recompute_method: found \"block\", allowed is uniform: all layers are made "
        "again, each by itself",
        fault(
            with(with(megatron, "/recompute-granularity", "full"), "/recompute-method", "block")));
    EXPECT_EQ("f: /recompute_modules: found \"core_attn mlp\", allowed is core_attn",
              fault(with(megatron, "/recompute-modules", "core_attn mlp")));
    EXPECT_EQ(
        "f: /world_size: found 32, allowed are multiples of 24, the devices of a copy of the "
        "model; in its place data_parallel_size, or torchrun's nnodes and nproc_per_node",
        fault(with(megatron, "/context-parallel-size", 3)));
    EXPECT_EQ("f: /cp_comm_type: found \"allgather\", allowed are p2p, a2a",
              fault(with(megatron, "/cp-comm-type", "allgather")));
    EXPECT_EQ(
        "f: /expert_model_parallel_size: found 3, allowed are divisors of the data- and "
        "context-parallel ranks, 4",
        fault(with(megatron, "/expert-model-parallel-size", 3)));
    EXPECT_EQ("f: /expert_tensor_parallel_size: found 1, allowed is tensor_model_parallel_size, 4",
              fault(with(megatron, "/expert-tensor-parallel-size", 1)));
    EXPECT_EQ(
        "f: /world_size: found 12, allowed are multiples of 8, the devices of a copy of the model; "
        "in its place data_parallel_size, or torchrun's nnodes and nproc_per_node",
        fault(with(megatron, "/world-size", 12)));
    const std::string nodes =
        with(with(with(megatron, "/world-size", nullptr), "/nnodes", 3), "/nproc-per-node", 4);
    EXPECT_EQ(
        "f: /nnodes: found 3, which are 12 devices by nproc_per_node: allowed are multiples of 8, "
        "the devices of a copy of the model",
        fault(nodes));
    EXPECT_EQ("f: /num_layers: is missing", fault(with(megatron, "/num-layers", nullptr)));
    EXPECT_EQ(
        "f: /num_layers_per_virtual_pipeline_stage: found 5, allowed are divisors of num_layers / "
        "pipeline_model_parallel_size, 24 / 2",
        fault(with(megatron, "/num-layers-per-virtual-pipeline-stage", 5)));
    EXPECT_EQ("f: /optimizer: found \"muon\", allowed are adam, sgd",
              fault(with(megatron, "/optimizer", "muon")));
    EXPECT_EQ(
        "f: /microbatch_group_size_per_virtual_pipeline_stage: found 4, allowed is "
        "pipeline_model_parallel_size, 2",
        fault(with(megatron, "/microbatch-group-size-per-virtual-pipeline-stage", 4)));
    const auto in_text = [](const char* text) {
        const auto document = megatron_arguments("f", text);
        return document.ok() ? fault_of(parallel_of, document->json.dump())
                             : document.status().message();
    };
    EXPECT_EQ("f: /tensor_model_parallel_size: found 2 and 4, allowed is one value",
              in_text("--tensor-model-parallel-size 2 --tensor-model-parallel-size 4"));
    EXPECT_EQ("f: /tensor_model_parallel_size: found \"$TP\", allowed are integers from 1 to 65536",
              in_text("--tensor-model-parallel-size $TP"));
    EXPECT_EQ("f: /tensor_model_parallel_size: found \"$TP\", allowed are integers from 1 to 65536",
              in_text("TP=1\nTP=2\n--tensor-model-parallel-size $TP"));
    EXPECT_EQ(
        "f: allowed is JSON, or Megatron-LM's arguments on a command line or in YAML: none is "
        "there",
        in_text("key: value"));
}

}  // namespace
}  // namespace gradcoll::mover
