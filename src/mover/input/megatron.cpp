// mover/input/megatron.cpp - see frameworks.hpp. Facts of the format: Megatron-LM's
// megatron/training/arguments.py of August 2026, and what its distributed optimizer's page says of
// bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "mover/input/frameworks.hpp"
#include "mover/input/megatron_keys.hpp"
#include "mover/input/other_tools.hpp"

namespace gradcoll::mover {
namespace {

/// Returns the document with keys as in YAML.
Result<Document> with_plain_keys(const Document& document) {
    Document out{document.origin, nlohmann::json::object()};
    for (const auto& [key, value] : document.json.items()) {
        const std::string plain = plain_megatron_key(key);
        if (out.json.contains(plain))
            return wrong_input(document.origin, "/" + key, "stands twice");
        out.json[plain] = value;
    }
    return out;
}

void read_megatron_devices(Fields& in, Parallel& out) {
    in.integer("tensor_model_parallel_size", 1, 1 << 16, out.tensor);
    in.integer("pipeline_model_parallel_size", 1, 4096, out.pipeline);
    in.integer("context_parallel_size", 1, 1 << 16, out.context);
    in.word<bool>("cp_comm_type", {{"p2p", false}, {"a2a", true}}, out.context_by_heads);
    in.integer("expert_model_parallel_size", 1, 1 << 16, out.expert);
    std::int64_t of_an_expert = out.tensor;
    in.integer("expert_tensor_parallel_size", 1, 1 << 16, of_an_expert);
    if (of_an_expert != out.tensor)
        in.wrong("expert_tensor_parallel_size",
                 fmt::format("allowed is tensor_model_parallel_size, {}", out.tensor));
    std::int64_t devices = 0, nodes = 0, of_a_node = 0;
    in.integer("world_size", 1, 1 << 20, devices);
    in.integer("nnodes", 1, 1 << 20, nodes);
    in.integer("nproc_per_node", 1, 4096, of_a_node);
    in.integer("data_parallel_size", 1, 1 << 16, out.data);
    if (in.has("data_parallel_size")) return;
    const std::int64_t of_a_replica = out.tensor * out.context * out.pipeline;
    const bool counts_nodes = devices == 0 && nodes > 0 && of_a_node > 0;
    if (counts_nodes) devices = nodes * of_a_node;
    if (devices > 0 && devices % of_a_replica == 0) {
        out.data = devices / of_a_replica;
        return;
    }
    const std::string allowed = fmt::format(
        "allowed are multiples of {}, the devices of a copy of the model", of_a_replica);
    if (counts_nodes)
        return in.wrong(
            "nnodes", fmt::format("which are {} devices by nproc_per_node: {}", devices, allowed));
    in.wrong("world_size", allowed +
                               "; in its place data_parallel_size, or torchrun's nnodes and "
                               "nproc_per_node");
}

void read_virtual_stages(Fields& in, Parallel& out) {
    std::int64_t layers = 0, of_a_stage = 0;
    in.integer("num_virtual_stages_per_pipeline_rank", 1, 4096, out.virtual_stages);
    in.integer("virtual_pipeline_model_parallel_size", 1, 4096, out.virtual_stages);
    in.integer("num_layers", 1, 1 << 20, layers);
    in.integer("num_layers_per_virtual_pipeline_stage", 1, 1 << 20, of_a_stage);
    if (of_a_stage == 0) return;
    if (layers == 0) return in.require({"num_layers"});
    out.virtual_stages = std::clamp<std::int64_t>(layers / (out.pipeline * of_a_stage), 1, 4096);
    if (layers != out.virtual_stages * out.pipeline * of_a_stage)
        in.wrong("num_layers_per_virtual_pipeline_stage",
                 fmt::format("allowed are divisors of num_layers / pipeline_model_parallel_size, "
                             "{} / {}",
                             layers, out.pipeline));
}

void read_megatron_batch(Fields& in, Parallel& out) {
    in.require({"micro_batch_size"});
    in.integer("micro_batch_size", 1, most_micro_batches, out.micro_batch_size);
    std::int64_t batch = out.data * out.micro_batch_size;
    in.integer("global_batch_size", 1, std::int64_t{1} << 32, batch);
    set_micro_batches(in, "global_batch_size", batch, out);
    for (const char* key : {"microbatch_group_size_per_virtual_pipeline_stage",
                            "microbatch_group_size_per_vp_stage"}) {
        std::int64_t group = out.pipeline;
        in.integer(key, 1, most_micro_batches, group);
        if (out.virtual_stages > 1 && group != out.pipeline)
            in.wrong(key, fmt::format("allowed is pipeline_model_parallel_size, {}", out.pipeline));
    }
}

void read_megatron_recompute(Fields& in, Parallel& out) {
    bool selective = false;
    in.flag("recompute_activations", selective);
    if (selective) out.recompute = Recompute::selective;
    in.word<Recompute>("recompute_granularity",
                       {{"selective", Recompute::selective}, {"full", Recompute::full}},
                       out.recompute);
    if (out.recompute == Recompute::full) {
        refuse_other(in, {"recompute_method", R"("uniform")",
                          "allowed is uniform: all layers are made again, each by itself"});
        refuse_other(in, {"recompute_num_layers", "1",
                          "allowed is 1: all layers are made again, each by itself"});
    }
    const nlohmann::json* modules = in.inner("recompute_modules");
    if (out.recompute == Recompute::selective && modules != nullptr && *modules != "core_attn" &&
        *modules != nlohmann::json::array({"core_attn"}))
        in.wrong("recompute_modules", "allowed is core_attn");
}

/// Reads which ranks share states, as a stage of ZeRO.
void read_megatron_sharding(Fields& in, Parallel& out) {
    bool optimizer = false, fsdp = false, torch_fsdp = false;
    in.flag("use_distributed_optimizer", optimizer);
    in.flag("use_megatron_fsdp", fsdp);
    in.flag("use_torch_fsdp2", torch_fsdp);
    std::int64_t stage = 0;
    in.word<std::int64_t>(
        "data_parallel_sharding_strategy",
        {{"no_shard", 0}, {"optim", 1}, {"optim_grads", 2}, {"optim_grads_params", 3}}, stage);
    if (torch_fsdp)
        out.zero = 3;
    else
        out.zero = fsdp ? stage : (optimizer ? 1 : 0);
}

void read_megatron_types(Fields& in, Parallel& out) {
    bool half = false, brain = false, sums_of_32_bits = false, sums_of_16_bits = false;
    in.flag("fp16", half);
    in.flag("bf16", brain);
    in.flag("accumulate_allreduce_grads_in_fp32", sums_of_32_bits);
    in.flag("grad_reduce_in_bf16", sums_of_16_bits);
    if (half && brain) in.wrong("bf16", "allowed is one of fp16 and bf16");
    std::int64_t states = 2;
    in.word<std::int64_t>("optimizer", {{"adam", 2}, {"sgd", 1}}, states);
    out.optimizer_bytes = 4 * states;
    if (!half && !brain) {
        out.parameter_bytes = 4;
        return;
    }
    const bool small_sums = brain ? sums_of_16_bits : !sums_of_32_bits;
    out.gradient_bytes = small_sums ? 2 : 4;
    // A 32-bit copy of parameters, and of gradients where they have fewer.
    out.optimizer_bytes += small_sums ? 8 : 4;
}

}  // namespace

bool is_megatron(const nlohmann::json& json) {
    if (!json.is_object()) return false;
    return std::any_of(json.items().begin(), json.items().end(), [](const auto& item) {
        const std::string key = plain_megatron_key(item.key());
        return key == "tensor_model_parallel_size" || key == "pipeline_model_parallel_size";
    });
}

Result<Parallel> parallel_of_megatron(const Document& document) {
    const Document plain = GRADCOLL_VALUE(with_plain_keys(document));
    Parallel out;
    Fields in(plain.json, plain.origin);
    // First, as they change what the other keys mean.
    for (const RefusedKey& key : refused_megatron_keys) refuse_other(in, key);
    read_megatron_devices(in, out);
    GRADCOLL_TRY(in.done_ignoring_others());
    read_virtual_stages(in, out);
    read_megatron_batch(in, out);
    read_megatron_recompute(in, out);
    read_megatron_sharding(in, out);
    read_megatron_types(in, out);
    in.flag("sequence_parallel", out.sequence_parallel);
    out.sequence_parallel = out.sequence_parallel && out.tensor > 1;
    in.integer("seq_length", 1, std::int64_t{1} << 24, out.sequence);
    GRADCOLL_TRY(in.done_ignoring_others());
    check_parallel(in,
                   {.virtual_stages = "num_layers_per_virtual_pipeline_stage",
                    .pipeline = "pipeline_model_parallel_size",
                    .micro_batches = "global_batch_size",
                    .expert = "expert_model_parallel_size"},
                   out);
    GRADCOLL_TRY(in.done_ignoring_others());
    return out;
}

}  // namespace gradcoll::mover
