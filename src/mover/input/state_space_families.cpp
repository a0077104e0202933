// mover/input/state_space_families.cpp - see config_figures.hpp.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "mover/input/config_figures.hpp"

namespace gradcoll::mover {
namespace {

/// Returns `expand` times hidden, rounded down.
std::int64_t expanded_at(Fields& in, std::string_view key, std::int64_t hidden) {
    double expand = 0;
    in.require({key});
    in.number(key, 1e-3, 1e3, expand);
    return static_cast<std::int64_t>(std::floor(expand * static_cast<double>(hidden)));
}

/// Records a fault if heads do not share the width equally.
void check_heads(Fields& in, std::string_view key, const StateSpace& states) {
    if (states.heads > 0 && states.width % states.heads != 0)
        in.wrong(key, fmt::format("allowed are divisors of {}", states.width));
}

void read_mamba2(Fields& in, TransformerModel& out) {
    const Figures figures =
        read_figures(in, out, {.heads = "num_heads", .feedforward = "", .positions = ""});
    if (flag_at(in, "residual_in_fp32")) out.flow_bytes = 4;
    const bool bias = flag_at(in, "use_bias");
    const StateSpace states{.heads = figures.heads,
                            .width = expanded_at(in, "expand", out.hidden),
                            .groups = required_at(in, "n_groups"),
                            .state_size = required_at(in, "state_size"),
                            .convolved = required_at(in, "conv_kernel"),
                            .chunk = required_at(in, "chunk_size"),
                            .in_bias = bias,
                            .convolution_bias = flag_at(in, "use_conv_bias"),
                            .out_bias = bias,
                            .norm = true};
    check_heads(in, "num_heads", states);
    for (std::int64_t l = 0; l < figures.layers; ++l) add_block(out, {part_of(states)});
}

void read_falcon_h1(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    const bool attention_bias = flag_at(in, "attention_bias"), bias = flag_at(in, "mlp_bias");
    const StateSpace states{.heads = required_at(in, "mamba_n_heads"),
                            .width = in.has("mamba_d_ssm")
                                         ? integer_at(in, "mamba_d_ssm")
                                         : expanded_at(in, "mamba_expand", out.hidden),
                            .groups = required_at(in, "mamba_n_groups"),
                            .state_size = required_at(in, "mamba_d_state"),
                            .convolved = required_at(in, "mamba_d_conv"),
                            .chunk = required_at(in, "mamba_chunk_size"),
                            .in_bias = flag_at(in, "mamba_proj_bias"),
                            .convolution_bias = flag_at(in, "mamba_conv_bias"),
                            .out_bias = flag_at(in, "projectors_bias"),
                            .norm = flag_at(in, "mamba_rms_norm")};
    check_heads(in, "mamba_n_heads", states);
    // Attention reads what the state space reads, behind the same norm.
    Part attention = part_of(attention_of(figures, attention_bias, attention_bias), Norm::absent);
    attention.beside = true;
    const FeedForward feedforward = gated_of(figures, bias);
    for (std::int64_t l = 0; l < figures.layers; ++l)
        add_block(out, {part_of(states), attention, part_of(feedforward)});
}

constexpr std::array all_with_states = {
    Family{"mamba2",
           R"({"vocab_size": 32768, "hidden_size": 4096, "num_hidden_layers": 64,
               "num_heads": 128, "head_dim": 64, "expand": 2, "state_size": 128, "n_groups": 8,
               "conv_kernel": 4, "chunk_size": 256, "use_conv_bias": true,
               "residual_in_fp32": true})",
           read_mamba2},
    Family{"falcon_h1",
           R"({"vocab_size": 128000, "hidden_size": 4096, "intermediate_size": 14336,
               "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
               "max_position_embeddings": 8192, "mamba_d_ssm": 1024, "mamba_n_heads": 128,
               "mamba_n_groups": 1, "mamba_d_state": 256, "mamba_d_conv": 4, "mamba_expand": 2,
               "mamba_chunk_size": 256, "mamba_conv_bias": true})",
           read_falcon_h1},
};

}  // namespace

std::span<const Family> state_space_families() {
    return all_with_states;
}

}  // namespace gradcoll::mover
