// mover/analysis/part_sizes.cpp - see part_sizes.hpp.
#include "mover/analysis/part_sizes.hpp"

#include <algorithm>

namespace gradcoll::mover {
StepSizes::StepSizes(const TransformerModel& of_model, const Parallel& parallel,
                     const Cluster& of_cluster, bool in_encoder)
    : model(of_model),
      cluster(of_cluster),
      tensor(parallel.tensor),
      context(parallel.context),
      context_by_heads(parallel.context_by_heads),
      expert(parallel.expert),
      outside(parallel.sequence_parallel ? parallel.tensor : 1),
      fused_activation(parallel.fused_activation),
      samples(parallel.micro_batch_size),
      sequence(tokens_of_sample(model, parallel)),
      tokens(0),
      encoder_sequence(model.encoder_sequence > 0 ? model.encoder_sequence : sequence),
      encoder_tokens(size_product({encoder_sequence, samples})) {
    if (in_encoder) sequence = encoder_sequence;
    tokens = size_product({sequence, samples}) / context;
}

Tick given_or(double given_us, Tick estimated) {
    return given_us >= 0 ? ticks_of_seconds(given_us * 1e-6) : estimated;
}

void set_times(const StepSizes& step, const GivenTimes& given, double flops, double bytes,
               LayerPart& part, const Waits& waits) {
    const double row = wide(size_product({step.tokens, step.model.hidden}));
    const double sums =
        2.0 * wide(step.model.number_bytes) * row * wide(step.tensor - 1) / wide(step.tensor);
    const Tick summed =
        step.tensor > 1 ? ticks_of_seconds(sums / (step.cluster.tensor_gbytes_per_s * 1e9)) : 0;
    part.forward = given_or(given.forward_us,
                            roofline_ticks(step.cluster, flops, bytes) + summed + waits.forward);
    part.backward = given_or(given.backward_us, roofline_ticks(step.cluster, 2 * flops, 2 * bytes) +
                                                    summed + waits.backward);
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
    (matrix == Matrix::whole ? learned().whole : learned().split_matrices) += numbers;
    (matrix == Matrix::split_outputs ? learned().split_vectors : learned().whole) += shift;
    const double taken = std::min(wide(count), wide(tokens_) * wide(chosen));
    unread_ += (wide(count) - taken) * wide(inputs) * wide(outputs) /
               wide(matrix == Matrix::whole ? 1 : step_.tensor);
}

void PartSizes::learn(std::int64_t numbers, Split split) {
    (split == Split::by_tensor ? learned().split_vectors : learned().whole) += numbers;
}

void PartSizes::table(std::int64_t rows, Split split) {
    const std::int64_t numbers = size_product({rows, step_.model.hidden});
    learn(numbers, split);
    unread_ += wide(numbers) / wide(shares(split));
}

void PartSizes::core(std::int64_t flops_of_pair, std::int64_t seen) {
    core_flops_ += wide(flops_of_pair) * wide(tokens_) * wide(seen);
}

void PartSizes::share_tokens(std::int64_t queries, std::int64_t keys, std::int64_t values,
                             std::int64_t seen) {
    if (step_.context == 1) return;
    // The result for a head of queries has as many numbers as the values that it reads.
    if (step_.context_by_heads) return swap_heads(queries + keys + values, values * queries / keys);
    const std::int64_t number = size_product({step_.model.number_bytes, keys + values});
    const std::int64_t own = step_.sequence / step_.context;
    const std::int64_t elsewhere = std::min(seen, step_.sequence - own);
    around_ += wide(size_product({number, elsewhere, step_.samples})) / wide(step_.tensor);
    // What came last is passed on while the next comes; in backward with its gradients.
    const std::int64_t block = divided_up(size_product({number, step_.tokens}), step_.tensor);
    out_.part.workspace_bytes += 2 * block;
    out_.part.backward_workspace_bytes += 4 * block;
}

/// Swaps `before` numbers of each token, and then `behind`. What was sent is in a buffer until it
/// has come.
void PartSizes::swap_heads(std::int64_t before, std::int64_t behind) {
    const auto bytes = [&](std::int64_t width) {
        return divided_up(size_product({step_.model.number_bytes, step_.tokens, width}),
                          step_.tensor);
    };
    swapped_ += wide(bytes(before + behind)) * wide(step_.context - 1) / wide(step_.context);
    out_.part.workspace_bytes += bytes(before);
    out_.part.backward_workspace_bytes += bytes(before);
}

void PartSizes::exchange(std::int64_t width) {
    if (step_.expert == 1) return;
    const std::int64_t sorted =
        divided_up(size_product({step_.model.number_bytes, step_.tokens, width}), step_.outside);
    exchanged_ += 2 * wide(sorted) * wide(step_.expert - 1) / wide(step_.expert);
    out_.part.workspace_bytes += sorted;
    out_.part.backward_workspace_bytes += sorted;
}

std::int64_t PartSizes::Learned::on_one_of(std::int64_t devices) const {
    return divided_up(split_matrices, devices) + divided_up(split_vectors, devices) + whole;
}

/// Returns how long the part waits, if the core takes `core` in forward: what goes around does so
/// beside it, backward brings gradients as well; what is swapped, and what experts need, is
/// awaited.
Waits PartSizes::waits(Tick core) const {
    const auto ticks = [&](double bytes, std::int64_t devices) {
        const bool in_host = step_.cluster.devices_per_host % devices == 0;
        const double rate =
            in_host ? step_.cluster.tensor_gbytes_per_s : step_.cluster.network_gbytes_per_s;
        return bytes > 0 ? ticks_of_seconds(bytes / (rate * 1e9)) : 0;
    };
    const Tick around = std::max<Tick>(ticks(around_, step_.tensor * step_.context) - core, 0);
    const Tick awaited = ticks(swapped_, step_.tensor * step_.context) +
                         ticks(exchanged_, step_.tensor * step_.expert);
    return {around + awaited, 2 * around + awaited};
}

SizedPart PartSizes::finish(const GivenTimes& given) {
    out_.of_experts = of_experts_learned_.on_one_of(step_.tensor);
    const std::int64_t products = learned_.on_one_of(step_.tensor) + out_.of_experts;
    out_.parameters = products + norms_;
    double bytes = 2.0 * (wide(products) - unread_);
    for (const KeptPart& kept : out_.part.kept) bytes += wide(kept.bytes);
    out_.part.core_forward = roofline_ticks(step_.cluster, core_flops_ / wide(step_.tensor), 0);
    set_times(step_, given, (core_flops_ + split_flops_) / wide(step_.tensor) + whole_flops_, bytes,
              out_.part, waits(out_.part.core_forward));
    return std::move(out_);
}

}  // namespace gradcoll::mover
