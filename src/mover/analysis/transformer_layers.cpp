// mover/analysis/transformer_layers.cpp - a transformer's layers: embedding, blocks and head.
#include <fmt/format.h>

#include <algorithm>

#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {
namespace {

// Each returns the name of a part of such a body.
const char* name_of(const SelfAttention& attention) {
    return attention.over_encoder ? "cross_attention" : "attention";
}
const char* name_of(const LatentAttention& /*body*/) {
    return "attention";
}
const char* name_of(const StateSpace& /*body*/) {
    return "states";
}
const char* name_of(const FeedForward& /*body*/) {
    return "feedforward";
}
const char* name_of(const Experts& /*body*/) {
    return "feedforward";
}
const char* name_of(const Distances& /*body*/) {
    return "distances";
}
const char* name_of(const EncoderEnd& /*body*/) {
    return "end";
}
const char* name_of(const Lookup& /*body*/) {
    return "lookup";
}

bool drops(const TransformerModel& model, const Part& part) {
    if (const auto* end = std::get_if<EncoderEnd>(&part.body)) return model.dropout && end->drops;
    return model.dropout && !std::holds_alternative<Distances>(part.body);
}

SizedPart sized(const StepSizes& step, const Part& part) {
    const std::int64_t hidden = step.model.hidden;
    PartSizes sizes(step, std::visit([](const auto& body) { return name_of(body); }, part.body));
    if (part.beside)
        sizes.learn(numbers_of(part.norm_before, hidden), Split::never);
    else
        sizes.norm(part.norm_before, "norm.in", hidden, hidden, Split::along_sequence);
    std::visit([&](const auto& body) { add_body(step, body, sizes); }, part.body);
    if (drops(step.model, part)) sizes.keep("mask", hidden, Split::along_sequence, 1);
    sizes.norm(part.norm_behind, "norm_behind.in", hidden, hidden, Split::along_sequence);
    return sizes.finish(part.times);
}

/// Returns the name of a block that is none of those that are numbered, or "".
std::string name_of_seam(const Block& block) {
    const auto& body = block.parts.front().body;
    if (std::holds_alternative<Distances>(body))
        return block.in_encoder ? "encoder distances" : "decoder distances";
    if (std::holds_alternative<EncoderEnd>(body)) return "encoder end";
    if (std::holds_alternative<Lookup>(body)) return "decoder embedding";
    return "";
}

/// Returns 0 for parts without heads.
std::int64_t heads_of(const Part& part) {
    if (const auto* attention = std::get_if<SelfAttention>(&part.body)) return attention->heads;
    if (const auto* attention = std::get_if<LatentAttention>(&part.body)) return attention->heads;
    if (const auto* states = std::get_if<StateSpace>(&part.body)) return states->heads;
    return 0;
}

/// Returns 0 for parts without experts.
std::int64_t experts_of(const Part& part) {
    const auto* const experts = std::get_if<Experts>(&part.body);
    return experts != nullptr ? experts->count : 0;
}

/// Returns the first part of all blocks that is such; null if there is none.
template <class IsSuch>
const Part* find_part(const TransformerModel& model, IsSuch is_such) {
    for (const Block& block : model.blocks)
        for (const Part& part : block.parts)
            if (is_such(part)) return &part;
    return nullptr;
}

Status check_expert(const TransformerModel& model, std::int64_t expert) {
    if (const Part* const odd =
            find_part(model, [&](const Part& part) { return experts_of(part) % expert != 0; }))
        return {Code::invalid_argument,
                fmt::format("expert: found {}, allowed are divisors of the model's experts, {}",
                            expert, experts_of(*odd))};
    const auto has_experts = [](const Part& part) { return experts_of(part) > 0; };
    if (expert == 1 || find_part(model, has_experts) != nullptr) return {};
    return {Code::invalid_argument,
            fmt::format("expert: found {}, allowed is 1 for a model without experts", expert)};
}

/// Returns whether the tokens of a sample meet in attention over all of them alone.
bool meet_in_attention(const TransformerModel& model) {
    if (model.embedding.reads != Reads::words || model.head.of_first_token) return false;
    const auto meets_otherwise = [](const Part& part) {
        if (const auto* attention = std::get_if<SelfAttention>(&part.body))
            return attention->over_encoder;
        return !std::holds_alternative<LatentAttention>(part.body) &&
               !std::holds_alternative<FeedForward>(part.body) &&
               !std::holds_alternative<Experts>(part.body);
    };
    return find_part(model, meets_otherwise) == nullptr;
}

/// Returns the heads of keys; 0 for parts without heads.
std::int64_t key_heads_of(const Part& part) {
    const auto* const attention = std::get_if<SelfAttention>(&part.body);
    return attention != nullptr ? attention->kv_heads : heads_of(part);
}

Status check_context_heads(const TransformerModel& model, const Parallel& parallel) {
    if (!parallel.context_by_heads) return {};
    const Part* const odd = find_part(model, [&](const Part& part) {
        return key_heads_of(part) % (parallel.context * parallel.tensor) != 0;
    });
    if (odd == nullptr) return {};
    return {Code::invalid_argument,
            fmt::format("context: found {} by heads, allowed are divisors of the model's heads of "
                        "keys, {}, on each of {} tensor-parallel devices",
                        parallel.context, key_heads_of(*odd), parallel.tensor)};
}

Status check_context(const TransformerModel& model, const Parallel& parallel) {
    if (parallel.context == 1) return {};
    if (!meet_in_attention(model) || model.attention == Attention::eager)
        return {Code::invalid_argument,
                fmt::format("context: found {}, allowed is 1 but for decoders with \"attention\": "
                            "\"flash\" and without state spaces",
                            parallel.context)};
    GRADCOLL_TRY(check_context_heads(model, parallel));
    const std::int64_t sequence = tokens_of_sample(model, parallel);
    if (sequence % parallel.context == 0) return {};
    return {Code::invalid_argument,
            fmt::format("context: found {}, allowed are divisors of the tokens of a sample, {}",
                        parallel.context, sequence)};
}

bool has_encoder(const TransformerModel& model) {
    return std::any_of(model.blocks.begin(), model.blocks.end(),
                       [](const Block& block) { return block.in_encoder; });
}

Status check_strategy(const TransformerModel& model, const Parallel& parallel) {
    if (tokens_of_sample(model, parallel) == 0)
        return {Code::invalid_argument,
                "sequence: is missing: the model does not say how many tokens a sample has"};
    if (parallel.pipeline > 1 && has_encoder(model))
        return {Code::invalid_argument,
                fmt::format("pipeline: found {}, allowed is 1 for a model of encoder and decoder",
                            parallel.pipeline)};
    GRADCOLL_TRY(check_expert(model, parallel.expert));
    GRADCOLL_TRY(check_context(model, parallel));
    return check_tensor(model, parallel.tensor);
}

}  // namespace

DeviceLayer layer_of(const StepSizes& step, const Block& block) {
    DeviceLayer layer{.name = name_of_seam(block)};
    // What a seam returns is kept for all blocks behind it.
    layer.recomputable = layer.name.empty();
    layer.input_bytes = of_row(step, flow_bytes(step.model));
    for (const Part& part : block.parts) {
        SizedPart one = sized(step, part);
        layer.parameters += one.parameters;
        layer.of_experts += one.of_experts;
        layer.parts.push_back(std::move(one.part));
    }
    return layer;
}

Status check_tensor(const TransformerModel& model, std::int64_t tensor) {
    const Part* const odd =
        find_part(model, [&](const Part& part) { return heads_of(part) % tensor != 0; });
    if (odd == nullptr) return {};
    return {Code::invalid_argument,
            fmt::format("tensor: found {}, allowed are divisors of the model's heads, {}", tensor,
                        heads_of(*odd))};
}

Result<std::vector<DeviceLayer>> layers_of(const TransformerModel& model, const Parallel& parallel,
                                           const Cluster& cluster) {
    GRADCOLL_TRY(check_strategy(model, parallel));
    const StepSizes step(model, parallel, cluster, false),
        of_encoder(model, parallel, cluster, true);
    std::vector<DeviceLayer> layers;
    if (model.vocabulary > 0) layers.push_back(embedding(has_encoder(model) ? of_encoder : step));
    std::int64_t number = 0;
    for (const Block& block : model.blocks) {
        const DeviceLayer layer = layer_of(block.in_encoder ? of_encoder : step, block);
        for (std::int64_t copy = 0; copy < block.repeat; ++copy) {
            layers.push_back(layer);
            if (layer.name.empty()) layers.back().name = fmt::format("layer {}", number++);
        }
    }
    // The first and the last pipeline rank each need the table, even if it is shared.
    if (model.vocabulary > 0) layers.push_back(head(step, !model.tied || parallel.pipeline > 1));
    return layers;
}

}  // namespace gradcoll::mover
