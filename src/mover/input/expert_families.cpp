// mover/input/expert_families.cpp - see config_figures.hpp.
#include <array>

#include "mover/input/config_figures.hpp"

namespace gradcoll::mover {
namespace {

/// Returns which of its names the count of experts has in the file.
std::string_view experts_key(const Fields& in) {
    for (const std::string_view key : {"num_local_experts", "num_experts"})
        if (in.has(key)) return key;
    return "n_routed_experts";
}

/// Reads how many experts there are and are chosen; each has `width`.
Experts read_experts(Fields& in, std::int64_t width) {
    const std::string_view key = experts_key(in);
    in.require({key, "num_experts_per_tok"});
    Experts experts{.count = integer_at(in, key),
                    .chosen = integer_at(in, "num_experts_per_tok"),
                    .each = {.width = width, .gated = true},
                    .shared = {}};
    if (experts.chosen > experts.count)
        in.wrong("num_experts_per_tok", "allowed are numbers up to that of experts");
    return experts;
}

void read_mixtral(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const Experts experts = read_experts(in, figures.feedforward);
    SelfAttention attention = attention_of(figures, false, false);
    attention.window = integer_at(in, "sliding_window");
    for (std::int64_t l = 0; l < figures.layers; ++l)
        add_block(out, {part_of(attention), part_of(experts)});
}

void read_qwen3_moe(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    SelfAttention attention = attention_of(figures, bias, bias);
    attention.head_norm = Norm::scale;
    if (flag_at(in, "use_sliding_window")) attention.window = integer_at(in, "sliding_window");
    const Experts experts = read_experts(in, required_at(in, "moe_intermediate_size"));
    const FeedForward dense = gated_of(figures);
    const std::int64_t step = required_at(in, "decoder_sparse_step");
    const std::vector<bool> is_dense = layers_listed_at(in, "mlp_only_layers", figures.layers);
    if (!in.done_ignoring_others().ok()) return;
    for (std::int64_t l = 0; l < figures.layers; ++l) {
        const bool has_experts = !is_dense[static_cast<std::size_t>(l)] && (l + 1) % step == 0;
        add_block(out, {part_of(attention), has_experts ? part_of(experts) : part_of(dense)});
    }
}

void read_gpt_oss(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    SelfAttention attention = attention_of(figures, bias, bias);
    attention.sinks = true;
    Experts experts = read_experts(in, figures.feedforward);
    experts.each.up_bias = experts.each.down_bias = experts.router_bias = true;
    const auto windows =
        windows_at(in, figures.layers,
                   {{"sliding_attention", integer_at(in, "sliding_window")}, {"full_attention", 0}},
                   [](std::int64_t layer) { return layer % 2 == 0; });
    for (const std::int64_t window : windows) {
        attention.window = window;
        add_block(out, {part_of(attention), part_of(experts)});
    }
}

/// Adds the blocks of a model whose first blocks have a dense feed-forward part, and whose experts
/// have one for all tokens beside them.
void add_blocks_after_dense(Fields& in, const Figures& figures, const Part& attention,
                            TransformerModel& out) {
    const std::int64_t width = required_at(in, "moe_intermediate_size");
    const std::int64_t dense_blocks = required_at(in, "first_k_dense_replace", 0);
    Experts experts = read_experts(in, width);
    experts.shared = {.width = width * required_at(in, "n_shared_experts"), .gated = true};
    experts.router_in_32_bits = true;
    const FeedForward dense = gated_of(figures);
    for (std::int64_t l = 0; l < figures.layers; ++l)
        add_block(out, {attention, l < dense_blocks ? part_of(dense) : part_of(experts)});
}

void read_glm4_moe(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    SelfAttention attention = attention_of(figures, flag_at(in, "attention_bias"), false);
    if (flag_at(in, "use_qk_norm")) attention.head_norm = Norm::scale;
    add_blocks_after_dense(in, figures, part_of(attention), out);
}

void read_deepseek_v3(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    const LatentAttention attention{.heads = figures.heads,
                                    .query_rank = integer_at(in, "q_lora_rank"),
                                    .kv_rank = required_at(in, "kv_lora_rank"),
                                    .position_size = required_at(in, "qk_rope_head_dim"),
                                    .content_size = required_at(in, "qk_nope_head_dim"),
                                    .value_size = required_at(in, "v_head_dim"),
                                    .down_bias = bias,
                                    .out_bias = bias};
    add_blocks_after_dense(in, figures, part_of(attention), out);
}

/// Returns for each layer whether it has experts.
std::vector<bool> llama4_expert_layers(Fields& in, std::int64_t layers) {
    if (in.has("moe_layers")) return layers_listed_at(in, "moe_layers", layers);
    const std::int64_t step = required_at(in, "interleave_moe_layer_step");
    std::vector<bool> has_experts(static_cast<std::size_t>(layers));
    for (std::int64_t l = 0; step > 0 && l < layers; ++l)
        has_experts[static_cast<std::size_t>(l)] = (l + 1) % step == 0;
    return has_experts;
}

/// Returns for each layer whether its queries and keys know positions.
std::vector<bool> llama4_turned_layers(Fields& in, std::int64_t layers) {
    std::vector<bool> turned(static_cast<std::size_t>(layers));
    const nlohmann::json* list = in.inner("no_rope_layers");
    if (list == nullptr || list->empty()) {
        const std::int64_t interval = required_at(in, "no_rope_layer_interval");
        for (std::int64_t l = 0; interval > 0 && l < layers; ++l)
            turned[static_cast<std::size_t>(l)] = (l + 1) % interval != 0;
        return turned;
    }
    if (!list->is_array() || list->size() != turned.size()) {
        in.wrong("no_rope_layers", "allowed is an array of 0 and 1 for each layer");
        return turned;
    }
    for (std::size_t l = 0; l < turned.size(); ++l) turned[l] = (*list)[l] != 0;
    return turned;
}

void read_llama4(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    const bool normed = flag_at(in, "use_qk_norm");
    SelfAttention attention = attention_of(figures, bias, bias);
    Experts experts = read_experts(in, figures.feedforward);
    experts.shared = experts.each;
    experts.weighing = Weighing::of_inputs;
    const FeedForward dense{.width = required_at(in, "intermediate_size_mlp"), .gated = true};
    const std::vector<bool> has_experts = llama4_expert_layers(in, figures.layers);
    const std::vector<bool> turned = llama4_turned_layers(in, figures.layers);
    const auto windows = windows_at(
        in, figures.layers,
        {{"chunked_attention", integer_at(in, "attention_chunk_size")}, {"full_attention", 0}},
        [&](std::int64_t layer) { return turned[static_cast<std::size_t>(layer)]; });
    for (std::size_t l = 0; l < windows.size(); ++l) {
        attention.window = windows[l];
        attention.head_norm = normed && turned[l] ? Norm::learns_nothing : Norm::absent;
        add_block(out, {part_of(attention), has_experts[l] ? part_of(experts) : part_of(dense)});
    }
}

constexpr std::array all_with_experts = {
    Family{"mixtral",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
               "max_position_embeddings": 131072, "num_local_experts": 8,
               "num_experts_per_tok": 2})",
           read_mixtral},
    Family{"qwen3_moe",
           R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144,
               "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 4,
               "max_position_embeddings": 32768, "sliding_window": 4096, "num_experts": 128,
               "num_experts_per_tok": 8, "moe_intermediate_size": 768,
               "decoder_sparse_step": 1})",
           read_qwen3_moe},
    Family{"gpt_oss",
           R"({"vocab_size": 201088, "hidden_size": 2880, "intermediate_size": 2880,
               "num_hidden_layers": 36, "num_attention_heads": 64, "num_key_value_heads": 8,
               "head_dim": 64, "max_position_embeddings": 131072, "sliding_window": 128,
               "attention_bias": true, "num_local_experts": 128, "num_experts_per_tok": 4})",
           read_gpt_oss},
    Family{"glm4_moe",
           R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 10944,
               "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
               "max_position_embeddings": 131072, "n_routed_experts": 128,
               "num_experts_per_tok": 8, "moe_intermediate_size": 1408, "n_shared_experts": 1,
               "first_k_dense_replace": 1})",
           read_glm4_moe},
    Family{"deepseek_v3",
           R"({"vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432,
               "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
               "max_position_embeddings": 4096, "q_lora_rank": 1536, "kv_lora_rank": 512,
               "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
               "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
               "n_shared_experts": 1, "first_k_dense_replace": 3})",
           read_deepseek_v3},
    Family{"llama4_text",
           R"({"vocab_size": 202048, "hidden_size": 5120, "intermediate_size": 8192,
               "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
               "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
               "max_position_embeddings": 131072, "num_local_experts": 16,
               "num_experts_per_tok": 1, "interleave_moe_layer_step": 1, "use_qk_norm": true,
               "no_rope_layer_interval": 4, "attention_chunk_size": 8192})",
           read_llama4},
};

}  // namespace

std::span<const Family> expert_families() {
    return all_with_experts;
}

}  // namespace gradcoll::mover
