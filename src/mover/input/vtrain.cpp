// mover/input/vtrain.cpp - see other_tools.hpp. Facts of the format: Bang et al., "vTrain: a
// Simulation Framework for Evaluating Cost-effective and Compute-optimal Large Language Model
// Training" (MICRO'24), and the files of its repository.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "mover/input/other_tools.hpp"

namespace gradcoll::mover {
namespace {

/// A DataSheet of NVIDIA gives the rate of 16-bit tensor cores, and what the PCIe link carries in
/// practice.
struct DataSheet {
    std::string_view name;
    std::int64_t gib;
    double tflops, memory_gbytes_per_s, link_gbytes_per_s;
};
constexpr std::array sheets = {DataSheet{"A100", 80, 312, 2039, 25},
                               DataSheet{"V100", 32, 125, 900, 12}};

const DataSheet* sheet_of(Fields& in) {
    std::string name(sheets.front().name);
    in.text("gpu_name", name);
    for (const DataSheet& sheet : sheets)
        if (sheet.name == name) return &sheet;
    in.wrong("gpu_name", "allowed are A100, V100");
    return nullptr;
}

/// Reads the three sizes; one may be left out and follows from num_gpus.
void read_vtrain_ways(Fields& in, Parallel& out) {
    constexpr std::int64_t most = 1 << 16;
    const std::array ways = {std::pair{"tensor_parallel_size", &out.tensor},
                             std::pair{"data_parallel_size", &out.data},
                             std::pair{"pipeline_parallel_size", &out.pipeline}};
    std::int64_t product = 1, missing = 0, devices = 0;
    for (const auto& [key, size] : ways) {
        in.integer(key, 1, most, *size);
        if (in.has(key)) product *= *size;
        missing += in.has(key) ? 0 : 1;
    }
    in.integer("num_gpus", 1, std::int64_t{1} << 30, devices);
    if (missing == 0 && devices == 0) return;
    if (missing > 1 || devices % product != 0 || (missing == 0 && devices != product))
        return in.wrong("num_gpus",
                        "allowed is tensor_parallel_size * data_parallel_size * "
                        "pipeline_parallel_size, of which one may be left out");
    for (const auto& [key, size] : ways)
        if (!in.has(key)) *size = devices / product;
    if (out.pipeline > 4096) in.wrong("pipeline_parallel_size", "allowed are 4096 at most");
}

void read_vtrain_batch(Fields& in, Parallel& out) {
    std::int64_t batch = 1920;  // vTrain's own default
    in.integer("global_batch_size", 1, std::int64_t{1} << 32, batch);
    in.integer("micro_batch_size", 1, 1 << 16, out.micro_batch_size);
    if (out.pipeline > 1) in.require({"micro_batch_size"});
    if (!in.has("micro_batch_size"))
        out.micro_batch_size = std::clamp<std::int64_t>(batch / out.data, 1, 1 << 16);
    set_micro_batches(in, "global_batch_size", batch, out);
}

}  // namespace

bool is_vtrain(const nlohmann::json& json) {
    return json.is_object() && json.contains("num_layers") &&
           (json.contains("tensor_parallel_size") || json.contains("pipeline_parallel_size"));
}

Result<Model> model_of_vtrain(const Document& document) {
    Model model{.name = "vtrain", .body = {}};
    auto& out = model.body.emplace<TransformerModel>();
    EqualBlocks blocks;
    Fields in(document.json, document.origin);
    in.require({"num_layers", "hidden_size", "num_attention_heads", "max_length"});
    out.vocabulary = 50257;  // vTrain's own default
    in.integer("num_layers", 1, most_layers, blocks.layers);
    in.integer("hidden_size", 1, most_wide, out.hidden);
    in.integer("num_attention_heads", 1, most_wide, blocks.heads);
    in.integer("max_length", 1, most_wide, out.sequence);
    in.integer("vocab_size", 1, most_wide, out.vocabulary);
    GRADCOLL_TRY(in.done_ignoring_others());
    if (out.hidden % blocks.heads != 0)
        in.wrong("num_attention_heads", fmt::format("allowed are divisors of {}", out.hidden));
    GRADCOLL_TRY(in.done_ignoring_others());
    set_blocks(blocks, out);
    out.positions = out.sequence;
    out.tied = true;
    out.attention = Attention::eager;
    return model;
}

Result<Parallel> parallel_of_vtrain(const Document& document) {
    Parallel out;
    Fields in(document.json, document.origin);
    read_vtrain_ways(in, out);
    GRADCOLL_TRY(in.done_ignoring_others());
    read_vtrain_batch(in, out);
    bool full = true, buckets = false;
    in.flag("use_checkpoint", full);
    out.recompute = full ? Recompute::full : Recompute::none;
    in.flag("use_gradient_bucket", buckets);
    if (buckets)
        in.wrong("use_gradient_bucket", "allowed is false: sums are taken after the last backward");
    in.word<ScheduleKind>("pipeline_scheduling",
                          {{"1f1b", ScheduleKind::one_f_one_b}, {"gpipe", ScheduleKind::gpipe}},
                          out.schedule);
    GRADCOLL_TRY(in.done_ignoring_others());
    return out;
}

Result<Cluster> cluster_of_vtrain(const Document& document) {
    Cluster out;
    Fields in(document.json, document.origin);
    const DataSheet* sheet = sheet_of(in);
    double inner = 150, node_gbits = 800;  // vTrain's own defaults
    std::int64_t devices = 1;
    out.devices_per_host = 8;
    in.integer("node_size", 1, 4096, out.devices_per_host);
    in.integer("num_gpus", 1, std::int64_t{1} << 30, devices);
    in.number("intra_node_bandwidth", slowest_link, fastest_link, inner);
    in.number("inter_node_bandwidth", 1e-2, 1e6, node_gbits);
    GRADCOLL_TRY(in.done_ignoring_others());
    out.device_memory = sheet->gib << 30;
    out.host_memory = most_bytes;
    out.device_tflops = sheet->tflops;
    out.device_memory_gbytes_per_s = sheet->memory_gbytes_per_s;
    out.link_gbytes_per_s = sheet->link_gbytes_per_s;
    out.tensor_gbytes_per_s = inner;
    // Within one node nothing goes over the network.
    out.network_gbytes_per_s = devices <= out.devices_per_host
                                   ? inner
                                   : node_gbits / 8 / static_cast<double>(out.devices_per_host);
    return out;
}

}  // namespace gradcoll::mover
