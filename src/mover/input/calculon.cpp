// mover/input/calculon.cpp - see other_tools.hpp. Facts of the format: Isaev et al., "Calculon: a
// Methodology and Tool for High-Level Co-Design of Systems and Large Language Models" (SC'23), and
// the files of its repository.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "mover/input/other_tools.hpp"

namespace gradcoll::mover {
namespace {

bool has_all(const nlohmann::json& json, std::initializer_list<const char*> keys) {
    if (!json.is_object()) return false;
    for (const char* key : keys)
        if (!json.contains(key)) return false;
    return true;
}

/// Returns an inner object; if it is missing, records a fault and returns an empty one.
const nlohmann::json& object_at(Fields& in, std::string_view key) {
    static const nlohmann::json none = nlohmann::json::object();
    const nlohmann::json* inner = in.inner(key);
    if (inner == nullptr) {
        in.require({key});
        return none;
    }
    return *inner;
}

/// Returns the first efficiency of [[size, efficiency], ...], that of the largest operations.
double efficiency_of_large(Fields& in, std::string_view key) {
    const nlohmann::json* rows = in.inner(key);
    if (rows == nullptr) return 1;
    const bool pairs = rows->is_array() && !rows->empty() && rows->front().is_array() &&
                       rows->front().size() == 2 && rows->front()[1].is_number();
    const double efficiency = pairs ? rows->front()[1].get<double>() : 0;
    if (efficiency > 0 && efficiency <= 1) return efficiency;
    in.wrong(key,
             "allowed are rows [size, efficiency], largest size first, with 0 < efficiency <= 1");
    return 1;
}

struct CalculonMemory {
    std::int64_t bytes = 0;
    double gbytes_per_s = 0;
};

CalculonMemory memory_at(Fields& outer, std::string_view key) {
    CalculonMemory out;
    Fields in(object_at(outer, key), outer.origin(), outer.pointer_to(key));
    in.require({"GiB", "GBps"});
    double gib = 0;
    // Calculon writes unlimited memory as some exbibytes.
    in.number("GiB", 1e-6, 1e15, gib);
    in.number("GBps", slowest_link, fastest_link, out.gbytes_per_s);
    out.bytes =
        static_cast<std::int64_t>(std::min(gib * (1 << 30), static_cast<double>(most_bytes)));
    out.gbytes_per_s *= efficiency_of_large(in, "MB_efficiency");
    outer.fault(in.done_ignoring_others());
    return out;
}

void read_arithmetic(Fields& outer, Cluster& out) {
    Fields matrix(object_at(outer, "matrix"), outer.origin(), outer.pointer_to("matrix"));
    Fields in(object_at(matrix, "float16"), outer.origin(), matrix.pointer_to("float16"));
    in.require({"tflops"});
    in.number("tflops", 1e-6, 1e6, out.device_tflops);
    out.device_efficiency = efficiency_of_large(in, "gflops_efficiency");
    outer.fault(matrix.done_ignoring_others());
    outer.fault(in.done_ignoring_others());
}

struct CalculonNetwork {
    double gbytes_per_s = 1;
    double latency_us = 0;
    std::int64_t size = 1;
};

CalculonNetwork network_of(const nlohmann::json& json, Fields& outer, std::size_t index) {
    Fields in(json, outer.origin(), fmt::format("{}/{}", outer.pointer_to("networks"), index));
    CalculonNetwork out;
    in.require({"bandwidth", "size"});
    in.number("bandwidth", slowest_link, fastest_link, out.gbytes_per_s);
    double efficiency = 1, latency_s = 0;
    in.number("efficiency", 1e-3, 1, efficiency);
    in.number("latency", 0, 1, latency_s);
    in.integer("size", 1, std::int64_t{1} << 30, out.size);
    out.gbytes_per_s *= efficiency;
    out.latency_us = latency_s * 1e6;
    outer.fault(in.done_ignoring_others());
    return out;
}

/// Reads the networks: the first joins devices of a host, the last one joins hosts.
void read_networks(Fields& in, Cluster& out) {
    const nlohmann::json* list = in.inner("networks");
    if (list == nullptr || !list->is_array() || list->empty())
        return in.wrong("networks", "allowed is an array of at least one network");
    const CalculonNetwork inner = network_of(list->front(), in, 0);
    const CalculonNetwork outer = network_of(list->back(), in, list->size() - 1);
    if (inner.size > 4096)
        return in.wrong("networks", "allowed are at most 4096 devices in the first one");
    out.devices_per_host = inner.size;
    out.tensor_gbytes_per_s = inner.gbytes_per_s;
    out.network_gbytes_per_s = outer.gbytes_per_s;
    out.network_latency_us = outer.latency_us;
}

void read_calculon_ways(Fields& in, Parallel& out) {
    in.require({"tensor_par", "pipeline_par", "data_par", "batch_size", "microbatch_size"});
    in.integer("tensor_par", 1, 1 << 16, out.tensor);
    in.integer("pipeline_par", 1, 4096, out.pipeline);
    in.integer("data_par", 1, 1 << 16, out.data);
    in.integer("pipeline_interleaving", 1, 4096, out.virtual_stages);
    in.integer("microbatch_size", 1, 1 << 16, out.micro_batch_size);
    std::int64_t batch = 1, processors = out.tensor * out.pipeline * out.data;
    in.integer("batch_size", 1, std::int64_t{1} << 32, batch);
    in.integer("num_procs", 1, std::int64_t{1} << 30, processors);
    if (processors != out.tensor * out.pipeline * out.data)
        in.wrong("num_procs", "allowed is tensor_par * pipeline_par * data_par");
    set_micro_batches(in, "batch_size", batch, out);
}

}  // namespace

void set_micro_batches(Fields& in, std::string_view key, std::int64_t batch, Parallel& out) {
    const std::int64_t at_once = out.data * out.micro_batch_size;
    out.micro_batches = batch / at_once;
    if (batch % at_once != 0 || out.micro_batches > most_micro_batches)
        in.wrong(key, fmt::format("allowed are multiples of {}, the samples that all data-parallel "
                                  "ranks take at a time, up to {} times",
                                  at_once, most_micro_batches));
}

bool is_calculon_model(const nlohmann::json& json) {
    return has_all(json, {"num_blocks", "attn_heads"});
}

bool is_calculon_parallel(const nlohmann::json& json) {
    return has_all(json, {"tensor_par", "pipeline_par"});
}

bool is_calculon_cluster(const nlohmann::json& json) {
    return has_all(json, {"matrix", "mem1"});
}

Result<Model> model_of_calculon(const Document& document) {
    Model model{.name = "calculon", .body = {}};
    auto& out = model.body.emplace<TransformerModel>();
    EqualBlocks blocks;
    Fields in(document.json, document.origin);
    in.text("name", model.name);
    in.require({"hidden", "feedforward", "seq_size", "attn_heads", "attn_size", "num_blocks"});
    in.integer("hidden", 1, most_wide, out.hidden);
    in.integer("feedforward", 1, most_wide, blocks.feedforward);
    in.integer("seq_size", 1, most_wide, out.sequence);
    in.integer("attn_heads", 1, most_wide, blocks.heads);
    in.integer("attn_size", 1, most_wide, blocks.head_size);
    in.integer("num_blocks", 1, most_layers, blocks.layers);
    GRADCOLL_TRY(in.done_ignoring_others());
    out.attention = Attention::eager;
    set_blocks(blocks, out);
    return model;
}

Result<Parallel> parallel_of_calculon(const Document& document) {
    Parallel out;
    Fields in(document.json, document.origin);
    read_calculon_ways(in, out);
    in.word<Recompute>(
        "activation_recompute",
        {{"none", Recompute::none}, {"attn_only", Recompute::selective}, {"full", Recompute::full}},
        out.recompute);
    in.word<bool>("tensor_par_comm_type", {{"ar", false}, {"p2p_rs_ag", false}, {"rs_ag", true}},
                  out.sequence_parallel);
    bool sharded = false, training = true, sixteen_bits = true, all_heads = true;
    in.flag("optimizer_sharding", sharded);
    out.zero = sharded ? 1 : 0;
    in.flag("training", training);
    if (!training) in.wrong("training", "allowed is true");
    in.word<bool>("datatype", {{"float16", true}, {"bfloat16", true}}, sixteen_bits);
    in.word<bool>("attention_type", {{"multihead", true}}, all_heads);
    in.flag("fused_activation", out.fused_activation);
    GRADCOLL_TRY(in.done_ignoring_others());
    check_parallel(in, {"pipeline_interleaving", "pipeline_par", "batch_size"}, out);
    GRADCOLL_TRY(in.done_ignoring_others());
    return out;
}

Result<Cluster> cluster_of_calculon(const Document& document) {
    Cluster out;
    Fields in(document.json, document.origin);
    read_arithmetic(in, out);
    const CalculonMemory device = memory_at(in, "mem1");
    const CalculonMemory host = memory_at(in, "mem2");
    read_networks(in, out);
    GRADCOLL_TRY(in.done_ignoring_others());
    out.device_memory = device.bytes;
    out.device_memory_gbytes_per_s = device.gbytes_per_s;
    out.link_gbytes_per_s = host.gbytes_per_s;
    out.host_memory = std::min(most_bytes, size_product({host.bytes, out.devices_per_host}));
    return out;
}

}  // namespace gradcoll::mover
