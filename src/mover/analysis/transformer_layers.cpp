// mover/analysis/transformer_layers.cpp - a transformer's layers: embedding, blocks and head.
#include <fmt/format.h>

#include <algorithm>

#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {
namespace {

/// Returns the bytes of `bytes` for each number of what flows through the blocks.
std::int64_t of_row(const StepSizes& step, std::int64_t bytes) {
    return divided_up(size_product({bytes, step.tokens, step.model.hidden}), step.outside);
}

/// Returns the numbers of the table of words on one device.
std::int64_t table_numbers(const StepSizes& step) {
    return divided_up(size_product({step.model.vocabulary, step.model.hidden}), step.tensor);
}

DeviceLayer embedding(const StepSizes& step) {
    const TransformerModel& model = step.model;
    DeviceLayer layer{.name = "embedding", .place = LayerPlace::first, .recomputable = false};
    layer.parameters = table_numbers(step) + size_product({model.positions, model.hidden});
    LayerPart& part = layer.parts.emplace_back();
    part.name = "lookup";
    if (model.dropout) part.kept.push_back({"mask", of_row(step, 1)});
    const double row = wide(size_product({step.tokens, model.hidden}));
    // The rows are copied, with no arithmetic and no sums over devices.
    part.forward = given_or(model.embedding_times.forward_us,
                            roofline_ticks(step.cluster, 0, 2.0 * wide(model.number_bytes) * row));
    part.backward = given_or(model.embedding_times.backward_us, part.forward);
    return layer;
}

/// Returns the last norm, the product with the vocabulary, and the loss as one layer.
DeviceLayer head(const StepSizes& step, bool own_table) {
    const TransformerModel& model = step.model;
    DeviceLayer layer{.name = "head", .place = LayerPlace::last, .recomputable = false};
    layer.parameters =
        numbers_of(model.last_norm, model.hidden) + (own_table ? table_numbers(step) : 0);
    LayerPart& part = layer.parts.emplace_back();
    part.name = "loss";
    const std::int64_t logits =
        divided_up(size_product({4, step.tokens, model.vocabulary}), step.tensor);
    part.kept = {{"norm.in", of_row(step, model.number_bytes)},
                 {"product.in", of_row(step, model.number_bytes)},
                 {"logits", logits}};
    if (model.loss == Loss::eager) {
        part.workspace_bytes = logits;
        part.backward_workspace_bytes = size_product({2, logits});
    }
    const double flops = 2.0 * wide(size_product({step.tokens, model.hidden})) *
                         wide(model.vocabulary) / wide(step.tensor);
    set_times(step, model.head_times, flops, 2.0 * wide(layer.parameters), part);
    return layer;
}

const char* name_of(const Part& part) {
    const bool is_feedforward = std::holds_alternative<FeedForward>(part.body) ||
                                std::holds_alternative<Experts>(part.body);
    return is_feedforward ? "feedforward" : "attention";
}

SizedPart sized(const StepSizes& step, const Part& part) {
    const std::int64_t hidden = step.model.hidden;
    PartSizes sizes(step, name_of(part));
    if (part.beside)
        sizes.learn(numbers_of(part.norm_before, hidden), Split::never);
    else
        sizes.norm(part.norm_before, "norm.in", hidden, hidden, Split::along_sequence);
    std::visit([&](const auto& body) { add_body(step, body, sizes); }, part.body);
    if (step.model.dropout) sizes.keep("mask", hidden, Split::along_sequence, 1);
    sizes.norm(part.norm_behind, "norm_behind.in", hidden, hidden, Split::along_sequence);
    return sizes.finish(part.times);
}

DeviceLayer layer_of(const StepSizes& step, const Block& block) {
    DeviceLayer layer;
    layer.input_bytes = of_row(step, step.model.number_bytes);
    for (const Part& part : block.parts) {
        SizedPart one = sized(step, part);
        layer.parameters += one.parameters;
        layer.parts.push_back(std::move(one.part));
    }
    return layer;
}

/// Returns 0 for parts without attention.
std::int64_t heads_of(const Part& part) {
    if (const auto* attention = std::get_if<SelfAttention>(&part.body)) return attention->heads;
    if (const auto* attention = std::get_if<LatentAttention>(&part.body)) return attention->heads;
    return 0;
}

Status check_split(const TransformerModel& model, std::int64_t tensor) {
    for (const Block& block : model.blocks)
        for (const Part& part : block.parts)
            if (heads_of(part) % tensor != 0)
                return {Code::invalid_argument,
                        fmt::format("tensor: found {}, allowed are divisors of the model's heads, "
                                    "{}",
                                    tensor, heads_of(part))};
    return {};
}

}  // namespace

Result<std::vector<DeviceLayer>> layers_of(const TransformerModel& model, const Parallel& parallel,
                                           const Cluster& cluster) {
    GRADCOLL_TRY(check_split(model, parallel.tensor));
    const StepSizes step(model, parallel, cluster);
    std::vector<DeviceLayer> layers;
    if (model.vocabulary > 0) layers.push_back(embedding(step));
    std::int64_t number = 0;
    for (const Block& block : model.blocks) {
        const DeviceLayer layer = layer_of(step, block);
        for (std::int64_t copy = 0; copy < block.repeat; ++copy) {
            layers.push_back(layer);
            layers.back().name = fmt::format("layer {}", number++);
        }
    }
    // The first and the last pipeline rank each need the table, even if it is shared.
    if (model.vocabulary > 0) layers.push_back(head(step, !model.tied || parallel.pipeline > 1));
    return layers;
}

}  // namespace gradcoll::mover
