// mover/analysis/end_sizes.cpp - what stands before, between and behind a transformer's blocks:
// embedding, the seam of encoder and decoder, head.
#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {
namespace {

/// Returns the numbers of the table of words on one device.
std::int64_t table_numbers(const StepSizes& step) {
    return divided_up(size_product({step.model.vocabulary, step.model.hidden}), step.tensor);
}

/// Adds a product with each patch, whose pixels are kept, and a token before them if there is one.
void add_patches(const StepSizes& step, PartSizes& out) {
    const Embedding& shape = step.model.embedding;
    if (shape.first_token) {
        out.learn(step.model.hidden, Split::never);
        out.set_tokens(step.tokens - step.samples);
    }
    out.keep("pixels", shape.numbers, Split::never);
    out.product(shape.numbers, step.model.hidden, shape.bias, Matrix::whole);
    out.set_tokens(step.tokens);
}

/// Adds two convolutions, each with its activation, of which the first has twice as many tokens.
void add_frames(const StepSizes& step, PartSizes& out) {
    const std::int64_t hidden = step.model.hidden;
    const std::int64_t numbers = step.model.embedding.numbers;
    out.set_tokens(2 * step.tokens);
    out.keep("frames", numbers, Split::never);
    out.product(3 * numbers, hidden, true, Matrix::whole);
    out.keep("first.out", hidden, Split::never);
    out.keep("second.in", hidden, Split::never);
    out.set_tokens(step.tokens);
    out.product(3 * hidden, hidden, true, Matrix::whole);
    out.keep("second.out", hidden, Split::never);
}

}  // namespace

std::int64_t of_row(const StepSizes& step, std::int64_t bytes) {
    return divided_up(size_product({bytes, step.tokens, step.model.hidden}), step.outside);
}

DeviceLayer embedding(const StepSizes& step) {
    const TransformerModel& model = step.model;
    DeviceLayer layer{.name = "embedding", .place = LayerPlace::first, .recomputable = false};
    PartSizes sizes(step, "lookup");
    if (model.embedding.reads == Reads::patches) add_patches(step, sizes);
    if (model.embedding.reads == Reads::frames) add_frames(step, sizes);
    sizes.norm(model.embedding.norm, "norm.in", model.hidden, model.hidden, Split::along_sequence);
    if (model.dropout) sizes.keep("mask", model.hidden, Split::along_sequence, 1);
    const bool has_table = model.embedding.reads == Reads::words;
    SizedPart sized = sizes.finish(model.embedding_times);
    layer.parameters = sized.parameters + (has_table ? table_numbers(step) : 0) +
                       size_product({model.positions, model.hidden});
    LayerPart& part = layer.parts.emplace_back(std::move(sized.part));
    if (has_table) {
        // Rows are copied, with no arithmetic and no sums over devices.
        const double row = wide(size_product({step.tokens, model.hidden}));
        part.forward =
            given_or(model.embedding_times.forward_us,
                     roofline_ticks(step.cluster, 0, 2.0 * wide(model.number_bytes) * row));
        part.backward = given_or(model.embedding_times.backward_us, part.forward);
    }
    return layer;
}

DeviceLayer head(const StepSizes& step, bool own_table) {
    const TransformerModel& model = step.model;
    const Head& shape = model.head;
    const std::int64_t results = shape.of_first_token ? step.samples : step.tokens;
    DeviceLayer layer{.name = "head", .place = LayerPlace::last, .recomputable = false};
    layer.parameters =
        numbers_of(model.last_norm, model.hidden) + (own_table ? table_numbers(step) : 0);
    LayerPart& part = layer.parts.emplace_back();
    part.name = "loss";
    const std::int64_t row = of_row(step, model.number_bytes);
    const std::int64_t logits =
        divided_up(size_product({shape.logit_bytes, results, model.vocabulary}), step.tensor);
    part.kept = {{"norm.in", of_row(step, flow_bytes(model))}};
    const double flops =
        2.0 * wide(results) * wide(model.hidden) * wide(model.vocabulary) / wide(step.tensor);
    double dense_flops = 0;
    if (shape.bias) layer.parameters += divided_up(model.vocabulary, step.tensor);
    if (shape.dense) {
        layer.parameters += size_product({model.hidden, model.hidden}) +
                            (shape.dense_bias ? model.hidden : 0) +
                            numbers_of(shape.dense_norm, model.hidden);
        part.kept.insert(part.kept.end(),
                         {{"dense.in", row}, {"dense.out", row}, {"dense_norm.in", row}});
        dense_flops = 2.0 * wide(results) * wide(model.hidden) * wide(model.hidden);
    }
    part.kept.insert(part.kept.end(), {{"product.in", row}, {"logits", logits}});
    if (shape.drops && model.dropout) part.kept.push_back({"mask", of_row(step, 1)});
    if (model.loss == Loss::eager) {
        part.workspace_bytes = logits;
        part.backward_workspace_bytes = size_product({2, logits});
    }
    set_times(step, model.head_times, flops + dense_flops, 2.0 * wide(layer.parameters), part);
    return layer;
}

void add_body(const StepSizes& step, const EncoderEnd& /*end*/, PartSizes& out) {
    out.keep("encoder.out", step.model.hidden, Split::along_sequence);
}

void add_body(const StepSizes& /*step*/, const Lookup& lookup, PartSizes& out) {
    out.table(lookup.words, Split::by_tensor);
    out.table(lookup.positions, Split::never);
}

}  // namespace gradcoll::mover
