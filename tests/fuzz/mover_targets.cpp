#include "fuzz/runner.hpp"

#include <algorithm>
#include <string>

#include "fuzz/promises.hpp"
#include "mover/check/check.hpp"
#include "mover/files/plan_file.hpp"
#include "mover/input/any_form.hpp"

namespace gradcoll::fuzz {
namespace {

using namespace gradcoll::mover;

/// Returns whether the text names many layers or micro-batches: such steps take long to build, and
/// test nothing new.
bool names_many(std::string_view text) {
    constexpr double many = 64;
    double number = 0;
    for (const char c : text) {
        number = c >= '0' && c <= '9' ? number * 10 + (c - '0') : 0;
        if (number > many) return true;
    }
    return false;
}

template <class Read>
bool description(Read read, std::string_view text) {
    const auto document = document_of_text("fuzz", text);
    if (!accepted(document.status(), text)) return false;
    return accepted(read(*document).status(), text);
}

bool model(std::string_view text) {
    return description(model_of, text);
}

bool parallel(std::string_view text) {
    return description(parallel_of, text);
}

bool cluster(std::string_view text) {
    return description(cluster_of, text);
}

/// Reads the form behind an option, without a file.
bool short_form(std::string_view text) {
    if (text.find('=') == std::string_view::npos) return false;
    const auto document = read_document("--parallel", std::string(text));
    return accepted(document.status(), text) && accepted(parallel_of(*document).status(), text);
}

/// Refuses or proves what is read: no numbers are trusted.
bool move_plan(std::string_view text) {
    const auto document = document_of_text("fuzz", text);
    if (!accepted(document.status(), text)) return false;
    const auto inputs = inputs_of_plan(*document);
    const auto plan = plan_of(*document);
    const bool both = accepted(inputs.status(), text) && accepted(plan.status(), text);
    if (!both ||
        names_many(
            inputs->model.json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
            inputs->parallel.json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)))
        return false;
    const auto scene = scene_of(*inputs);
    if (!accepted(scene.status(), text)) return false;
    if (!accepted(check_plan(scene->program, scene->rooms, *plan), text)) return false;
    const std::string written = json_of(*inputs, scene->program, *plan);
    const auto again = document_of_text("again", written);
    must(again.ok() && plan_of(*again).ok(), "a plan that is right is written and read", text);
    return true;
}

/// Returns the plan of a step so small that there is nothing to move: every start is as the program
/// has it.
std::string kept_plan() {
    const std::string inputs =
        R"({"model": {"layers": [{"name": "a", "repeat": 2, "parameters": 5, "input_bytes": 64,)"
        R"( "kept": [{"name": "x", "bytes": 64}], "forward_us": 7}]},)"
        R"( "parallel": {"pipeline": 1, "micro_batches": 2}, "device_memory": 0, "cluster": )"
        R"({"devices_per_host": 8, "device_memory": "80GiB", "host_memory": "1024GiB",)"
        R"( "device_tflops": 312, "device_memory_gbytes_per_s": 2039, "link_gbytes_per_s": 25}})";
    Inputs read;
    const auto document = document_of_text("seed", inputs).value();
    read.model.json = document.json["model"];
    read.parallel.json = document.json["parallel"];
    read.cluster.json = document.json["cluster"];
    const Scene scene = scene_of(read).value();
    MovePlan plan;
    for (const RankProgram& rank : scene.program.ranks) {
        RankMoves& moves = plan.ranks.emplace_back();
        for (const Operator& op : rank.operators) {
            moves.starts.push_back(plan.step_ticks);
            plan.step_ticks += op.duration;
        }
    }
    return json_of(read, scene.program, plan);
}

constexpr std::string_view model_seeds[] = {
    R"({"transformer": {"layers": 2, "hidden": 64, "heads": 4, "sequence": 16}})",
    R"({"layers": [{"name": "a", "repeat": 3, "parameters": 5, "input_bytes": "2K",)"
    R"( "kept": [{"name": "x", "bytes": "1M"}], "forward_us": 7}]})",
    R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,)"
    R"( "vocab_size": 32000, "max_position_embeddings": 4096, "num_attention_heads": 32,)"
    R"( "num_hidden_layers": 32, "num_key_value_heads": 8, "rope_theta": 10000.0})",
    R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,)"
    R"( "n_inner": null, "vocab_size": 50257, "resid_pdrop": 0.1})",
    R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560, "sliding_window": 1024,)"
    R"( "layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2}})",
    R"({"model_type": "qwen3_moe", "num_hidden_layers": 4, "num_local_experts": 8,)"
    R"( "mlp_only_layers": [1], "decoder_sparse_step": 2, "head_dim": 128})",
    R"({"model_type": "deepseek_v3", "first_k_dense_replace": 1, "num_hidden_layers": 3,)"
    R"( "q_lora_rank": null, "kv_lora_rank": 512})",
    R"({"model_type": "mamba2", "num_heads": 80, "hidden_size": 2560, "num_hidden_layers": 4})",
    R"({"model_type": "t5", "d_model": 512, "num_decoder_layers": 2, "feed_forward_proj":)"
    R"( "gated-gelu", "tie_word_embeddings": false})",
    R"({"model_type": "vit", "image_size": 224, "patch_size": 16, "num_hidden_layers": 2})"};
constexpr std::string_view parallel_seeds[] = {
    R"({"pipeline": 4, "virtual_stages": 2, "micro_batches": 8})",
    R"({"schedule": "1f1b", "zero": 2, "data": 8, "tensor": 2})",
    R"({"pipeline": 4, "micro_batches": 16, "schedule": "gpipe", "sequence_parallel": true})"};
constexpr std::string_view cluster_seeds[] = {
    R"({"devices_per_host": 8, "device_memory": "80GiB", "host_memory": "1024GiB",)"
    R"( "device_tflops": 312, "device_memory_gbytes_per_s": 2039, "link_gbytes_per_s": 25})"};
constexpr std::string_view short_seeds[] = {
    "pipeline=4, micro-batches=16,schedule=1f1b,sequence_parallel=true", "zero=3,data=2",
    "pipeline=4,pipeline=2"};

}  // namespace

std::vector<Target> mover_targets() {
    static const std::string plan = kept_plan();
    static const std::string_view plans[] = {plan};
    return {{"model", model, model_seeds},
            {"parallel strategies", parallel, parallel_seeds},
            {"cluster", cluster, cluster_seeds},
            {"behind an option", short_form, short_seeds},
            {"plan of moves", move_plan, plans}};
}

}  // namespace gradcoll::fuzz
