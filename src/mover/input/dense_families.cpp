// mover/input/dense_families.cpp - see config_figures.hpp.
#include <array>

#include "mover/input/config_figures.hpp"

namespace gradcoll::mover {
namespace {

/// Adds the blocks of a model whose layers differ in their windows at most.
void add_gated_blocks(TransformerModel& out, SelfAttention attention,
                      const std::vector<std::int64_t>& windows, const FeedForward& feedforward,
                      Norm behind = Norm::absent) {
    for (const std::int64_t window : windows) {
        attention.window = window;
        add_block(out, {part_of(attention, Norm::scale, behind),
                        part_of(feedforward, Norm::scale, behind)});
    }
}

/// Returns the same window for all layers.
std::vector<std::int64_t> equal_windows(const Figures& figures, std::int64_t window) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(figures.layers), window);
}

/// Adds equal blocks of attention and two matrices, with norms that shift.
void add_shifted_blocks(TransformerModel& out, const Figures& figures,
                        const SelfAttention& attention, std::int64_t feedforward, bool beside) {
    out.last_norm = Norm::scale_and_shift;
    Part second = part_of(FeedForward{.width = feedforward, .up_bias = true, .down_bias = true},
                          Norm::scale_and_shift);
    second.beside = beside;
    for (std::int64_t l = 0; l < figures.layers; ++l)
        add_block(out, {part_of(attention, Norm::scale_and_shift), second});
}

void read_gpt2(Fields& in, TransformerModel& out) {
    const Figures figures =
        read_figures(in, out, {"n_layer", "n_embd", "n_head", "", "n_positions"});
    refuse_flag(in, "add_cross_attention", "there is no encoder");
    const std::int64_t inner = integer_at(in, "n_inner");
    out.positions = out.sequence;
    add_shifted_blocks(out, figures, attention_of(figures, true, true),
                       inner > 0 ? inner : 4 * out.hidden, false);
}

void read_gpt_neox(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    SelfAttention attention = attention_of(figures, bias, bias);
    attention.values_in_product = true;
    add_shifted_blocks(out, figures, attention, figures.feedforward,
                       flag_at(in, "use_parallel_residual"));
}

void read_llama(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    add_gated_blocks(out, attention_of(figures, bias, bias), equal_windows(figures, 0),
                     gated_of(figures, flag_at(in, "mlp_bias")));
}

void read_mistral(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    add_gated_blocks(out, attention_of(figures, false, false),
                     equal_windows(figures, integer_at(in, "sliding_window")), gated_of(figures));
}

/// Reads the windows of Qwen's models: layers from max_window_layers on have one, if any has.
std::vector<std::int64_t> qwen_windows(Fields& in, const Figures& figures) {
    const std::int64_t window =
        flag_at(in, "use_sliding_window") ? integer_at(in, "sliding_window") : 0;
    const std::int64_t first = integer_at(in, "max_window_layers", 0);
    return windows_at(in, figures.layers, {{"sliding_attention", window}, {"full_attention", 0}},
                      [&](std::int64_t layer) { return layer >= first; });
}

void read_qwen2(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    add_gated_blocks(out, attention_of(figures, true, false), qwen_windows(in, figures),
                     gated_of(figures));
}

void read_qwen3(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    SelfAttention attention = attention_of(figures, bias, bias);
    attention.head_norm = Norm::scale;
    add_gated_blocks(out, attention, qwen_windows(in, figures), gated_of(figures));
}

void read_phi3(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    SelfAttention attention = attention_of(figures, false, false);
    attention.values_in_product = true;
    add_gated_blocks(out, attention, equal_windows(figures, integer_at(in, "sliding_window")),
                     gated_of(figures));
}

void read_gemma3(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool bias = flag_at(in, "attention_bias");
    SelfAttention attention = attention_of(figures, bias, bias);
    attention.head_norm = Norm::scale;
    const std::int64_t pattern = integer_at(in, "sliding_window_pattern");
    const auto windows =
        windows_at(in, figures.layers,
                   {{"sliding_attention", integer_at(in, "sliding_window")}, {"full_attention", 0}},
                   [&](std::int64_t layer) { return pattern > 0 && (layer + 1) % pattern != 0; });
    add_gated_blocks(out, attention, windows, gated_of(figures), Norm::scale);
}

constexpr std::array all_dense = {
    Family{"gpt2",
           R"({"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12,
               "n_head": 12, "resid_pdrop": 0.1, "attn_pdrop": 0.1, "tie_word_embeddings": true})",
           read_gpt2},
    Family{"gpt_neox",
           R"({"vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44,
               "num_attention_heads": 64, "intermediate_size": 24576, "attention_bias": true,
               "use_parallel_residual": true, "max_position_embeddings": 2048})",
           read_gpt_neox},
    Family{"llama",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
               "num_hidden_layers": 32, "num_attention_heads": 32,
               "max_position_embeddings": 2048})",
           read_llama},
    Family{"mistral",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
               "max_position_embeddings": 131072, "sliding_window": 4096})",
           read_mistral},
    Family{"ministral3",
           R"({"vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 14336,
               "num_hidden_layers": 34, "num_attention_heads": 32, "num_key_value_heads": 8,
               "head_dim": 128, "max_position_embeddings": 262144})",
           read_mistral},
    Family{"qwen2",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
               "max_position_embeddings": 32768, "sliding_window": 4096,
               "max_window_layers": 28})",
           read_qwen2},
    Family{"qwen2_vl_text",
           R"({"vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568,
               "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
               "max_position_embeddings": 32768, "sliding_window": 4096,
               "max_window_layers": 80})",
           read_qwen2},
    Family{"qwen2_5_vl_text",
           R"({"vocab_size": 152064, "hidden_size": 8192, "intermediate_size": 29568,
               "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
               "max_position_embeddings": 32768, "sliding_window": 4096,
               "max_window_layers": 80})",
           read_qwen2},
    Family{"qwen3_vl_text",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
               "head_dim": 128, "max_position_embeddings": 128000})",
           read_qwen3},
    Family{"qwen3",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
               "head_dim": 128, "max_position_embeddings": 32768, "sliding_window": 4096,
               "max_window_layers": 28})",
           read_qwen3},
    Family{"phi3",
           R"({"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
               "num_hidden_layers": 32, "num_attention_heads": 32,
               "max_position_embeddings": 4096})",
           read_phi3},
    Family{"gemma3_text",
           R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216,
               "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
               "head_dim": 256, "max_position_embeddings": 131072, "sliding_window": 4096,
               "sliding_window_pattern": 6, "tie_word_embeddings": true})",
           read_gemma3},
};

}  // namespace

std::span<const Family> dense_families() {
    return all_dense;
}

}  // namespace gradcoll::mover
