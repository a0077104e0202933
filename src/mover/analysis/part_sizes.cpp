// mover/analysis/part_sizes.cpp - see part_sizes.hpp.
#include "mover/analysis/part_sizes.hpp"

#include <algorithm>

namespace gradcoll::mover {
StepSizes::StepSizes(const TransformerModel& of_model, const Parallel& parallel,
                     const Cluster& of_cluster, bool in_encoder)
    : model(of_model),
      cluster(of_cluster),
      tensor(parallel.tensor),
      outside(parallel.sequence_parallel ? parallel.tensor : 1),
      fused_activation(parallel.fused_activation),
      samples(parallel.micro_batch_size),
      sequence(parallel.sequence > 0 ? parallel.sequence : model.sequence),
      tokens(0),
      encoder_sequence(model.encoder_sequence > 0 ? model.encoder_sequence : sequence),
      encoder_tokens(size_product({encoder_sequence, samples})) {
    if (in_encoder) sequence = encoder_sequence;
    tokens = size_product({sequence, samples});
}

Tick given_or(double given_us, Tick estimated) {
    return given_us >= 0 ? ticks_of_seconds(given_us * 1e-6) : estimated;
}

void set_times(const StepSizes& step, const GivenTimes& given, double flops, double bytes,
               LayerPart& part) {
    const double row = wide(size_product({step.tokens, step.model.hidden}));
    const double sums =
        2.0 * wide(step.model.number_bytes) * row * wide(step.tensor - 1) / wide(step.tensor);
    const Tick summed =
        step.tensor > 1 ? ticks_of_seconds(sums / (step.cluster.tensor_gbytes_per_s * 1e9)) : 0;
    part.forward = given_or(given.forward_us, roofline_ticks(step.cluster, flops, bytes) + summed);
    part.backward =
        given_or(given.backward_us, roofline_ticks(step.cluster, 2 * flops, 2 * bytes) + summed);
}

std::int64_t numbers_of(Norm norm, std::int64_t width) {
    switch (norm) {
        case Norm::absent:
        case Norm::learns_nothing:
            return 0;
        case Norm::scale:
            return width;
        case Norm::scale_and_shift:
            return 2 * width;
    }
    return 0;
}

PartSizes::PartSizes(const StepSizes& step, std::string name) : step_(step), tokens_(step.tokens) {
    out_.part.name = std::move(name);
}

std::int64_t PartSizes::shares(Split split) const {
    switch (split) {
        case Split::by_tensor:
            return step_.tensor;
        case Split::along_sequence:
            return step_.outside;
        case Split::never:
            return 1;
    }
    return 1;
}

void PartSizes::keep(const std::string& name, std::int64_t width, Split split,
                     std::int64_t number_bytes) {
    const std::int64_t bytes = number_bytes > 0 ? number_bytes : step_.model.number_bytes;
    out_.part.kept.push_back(
        {name, divided_up(size_product({bytes, tokens_, width}), shares(split))});
}

void PartSizes::keep_core(const std::string& name, std::int64_t heads, std::int64_t seen,
                          std::int64_t number_bytes) {
    out_.part.kept.push_back(
        {name, divided_up(size_product({number_bytes, heads, tokens_, seen}), step_.tensor), true});
}

void PartSizes::keep_shared(const std::string& name, std::int64_t bytes, Split split) {
    out_.part.kept.push_back({name, divided_up(bytes, shares(split))});
}

void PartSizes::norm(Norm norm, const std::string& name, std::int64_t width, std::int64_t group,
                     Split split) {
    if (norm == Norm::absent) return;
    norms_ += numbers_of(norm, group);
    keep(name, width, split);
}

void PartSizes::product(std::int64_t inputs, std::int64_t outputs, bool bias, Matrix matrix) {
    products(1, 1, inputs, outputs, bias, matrix);
}

void PartSizes::products(std::int64_t count, std::int64_t chosen, std::int64_t inputs,
                         std::int64_t outputs, bool bias, Matrix matrix) {
    const std::int64_t numbers = size_product({count, inputs, outputs});
    const std::int64_t shift = bias ? size_product({count, outputs}) : 0;
    const double flops = 2.0 * wide(tokens_) * wide(chosen) * wide(inputs) * wide(outputs);
    (matrix == Matrix::whole ? whole_flops_ : split_flops_) += flops;
    (matrix == Matrix::whole ? whole_ : split_matrices_) += numbers;
    (matrix == Matrix::split_outputs ? split_vectors_ : whole_) += shift;
    const double taken = std::min(wide(count), wide(tokens_) * wide(chosen));
    unread_ += (wide(count) - taken) * wide(inputs) * wide(outputs) /
               wide(matrix == Matrix::whole ? 1 : step_.tensor);
}

void PartSizes::learn(std::int64_t numbers, Split split) {
    (split == Split::by_tensor ? split_vectors_ : whole_) += numbers;
}

void PartSizes::table(std::int64_t rows, Split split) {
    const std::int64_t numbers = size_product({rows, step_.model.hidden});
    learn(numbers, split);
    unread_ += wide(numbers) / wide(shares(split));
}

void PartSizes::core(std::int64_t flops_of_pair, std::int64_t seen) {
    core_flops_ += wide(flops_of_pair) * wide(tokens_) * wide(seen);
}

SizedPart PartSizes::finish(const GivenTimes& given) {
    const std::int64_t products = divided_up(split_matrices_, step_.tensor) +
                                  divided_up(split_vectors_, step_.tensor) + whole_;
    out_.parameters = products + norms_;
    double bytes = 2.0 * (wide(products) - unread_);
    for (const KeptPart& kept : out_.part.kept) bytes += wide(kept.bytes);
    set_times(step_, given, (core_flops_ + split_flops_) / wide(step_.tensor) + whole_flops_, bytes,
              out_.part);
    out_.part.core_forward = roofline_ticks(step_.cluster, core_flops_ / wide(step_.tensor), 0);
    return std::move(out_);
}

}  // namespace gradcoll::mover
