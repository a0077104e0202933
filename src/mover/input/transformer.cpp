// mover/input/transformer.cpp - see transformer.hpp.
#include "mover/input/transformer.hpp"

#include <utility>

namespace gradcoll::mover {

void add_block(TransformerModel& model, std::vector<Part> parts, bool in_encoder) {
    if (model.blocks.empty() || model.blocks.back().in_encoder != in_encoder ||
        model.blocks.back().parts != parts)
        model.blocks.push_back({.repeat = 0, .in_encoder = in_encoder, .parts = std::move(parts)});
    ++model.blocks.back().repeat;
}

void set_blocks(const EqualBlocks& figures, TransformerModel& out) {
    const bool biases = figures.biases;
    out.last_norm = biases ? Norm::scale_and_shift : Norm::scale;
    const SelfAttention attention{
        .heads = figures.heads,
        .kv_heads = figures.kv_heads > 0 ? figures.kv_heads : figures.heads,
        .head_size = figures.head_size > 0 ? figures.head_size : out.hidden / figures.heads,
        .query_bias = biases,
        .key_bias = biases,
        .value_bias = biases,
        .out_bias = biases};
    const FeedForward feedforward{
        .width = figures.feedforward > 0 ? figures.feedforward : 4 * out.hidden,
        .gated = figures.gated,
        .up_bias = biases,
        .down_bias = biases};
    const auto part = [&](const auto& body, const GivenTimes& times) {
        return Part{.norm_before = out.last_norm, .body = body, .times = times};
    };
    out.blocks = {{.repeat = figures.layers,
                   .parts = {part(attention, figures.attention_times),
                             part(feedforward, figures.feedforward_times)}}};
}

}  // namespace gradcoll::mover
