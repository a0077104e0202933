// mover/input/megatron_keys.hpp - the names of Megatron-LM's arguments that say something here.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "mover/input/frameworks.hpp"

namespace gradcoll::mover {

/// Returns a key as YAML has it: "--micro-batch-size" becomes "micro_batch_size".
inline std::string plain_megatron_key(std::string_view key) {
    if (key.starts_with("--")) key.remove_prefix(2);
    std::string out(key);
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

/// These arguments have a value that parallel_of_megatron() reads.
inline constexpr auto megatron_values = std::to_array<std::string_view>({
    "tensor_model_parallel_size",
    "context_parallel_size",
    "cp_comm_type",
    "expert_model_parallel_size",
    "expert_tensor_parallel_size",
    "num_experts",
    "pipeline_model_parallel_size",
    "world_size",
    "nnodes",
    "nproc_per_node",
    "data_parallel_size",
    "num_virtual_stages_per_pipeline_rank",
    "virtual_pipeline_model_parallel_size",
    "num_layers",
    "num_layers_per_virtual_pipeline_stage",
    "micro_batch_size",
    "global_batch_size",
    "microbatch_group_size_per_virtual_pipeline_stage",
    "microbatch_group_size_per_vp_stage",
    "recompute_granularity",
    "recompute_method",
    "recompute_num_layers",
    "recompute_modules",
    "data_parallel_sharding_strategy",
    "optimizer",
    "seq_length",
});

/// These have no value on a command line.
inline constexpr auto megatron_flags = std::to_array<std::string_view>({
    "recompute_activations",
    "use_distributed_optimizer",
    "use_megatron_fsdp",
    "use_torch_fsdp2",
    "fp16",
    "bf16",
    "accumulate_allreduce_grads_in_fp32",
    "grad_reduce_in_bf16",
    "sequence_parallel",
});

inline constexpr std::string_view equal_stages = "allowed is none: stages have equally many layers";
inline constexpr std::string_view sixteen_bits = "allowed is none: numbers have 16 or 32 bits";

/// These are refused. One that may be "false" has no value on a command line.
inline constexpr auto refused_megatron_keys = std::to_array<RefusedKey>({
    {"rampup_batch_size", "null", "allowed is none: all steps have one size"},
    {"pipeline_model_parallel_layout", "null", equal_stages},
    {"decoder_first_pipeline_num_layers", "null", equal_stages},
    {"decoder_last_pipeline_num_layers", "null", equal_stages},
    {"account_for_embedding_in_pipeline_split", "false", equal_stages},
    {"account_for_loss_in_pipeline_split", "false", equal_stages},
    {"hybrid_layer_pattern", "null", "allowed is none: all layers are alike"},
    {"mtp_num_layers", "null", "allowed is none: a model predicts one token"},
    {"distribute_saved_activations", "false",
     "allowed is false: tensor-parallel ranks have whole inputs of layers"},
    {"num_distributed_optimizer_instances", "1",
     "allowed is 1: all data-parallel ranks share states"},
    {"use_precision_aware_optimizer", "false", "allowed is false: states have 32 bits"},
    {"fp8_format", "null", sixteen_bits},
    {"fp8", "null", sixteen_bits},
    {"fp4_format", "null", sixteen_bits},
    {"fp4", "null", sixteen_bits},
});

}  // namespace gradcoll::mover
