// mover/analysis/feedforward_sizes.cpp - what feed-forward parts keep: one for all tokens, or
// experts. Experts' matrices are split by tensor parallelism as those of the one are.
#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {
namespace {

/// Adds `count` equal feed-forward parts of which each token takes `chosen`, without their input.
/// `prefix` is put before the names of tensors.
void add_feedforward(const StepSizes& step, const FeedForward& feedforward,
                     const std::string& prefix, std::int64_t count, std::int64_t chosen,
                     PartSizes& out) {
    const std::int64_t hidden = step.model.hidden;
    const std::int64_t width = size_product({chosen, feedforward.width});
    out.keep(prefix + "down.in", width, Split::by_tensor);
    const bool result_is_kept = feedforward.of_positive && !feedforward.drops_inside;
    if (!step.fused_activation && !result_is_kept)
        out.keep(prefix + "up.out", width, Split::by_tensor);
    if (feedforward.gated) out.keep(prefix + "gate.out", width, Split::by_tensor);
    if (feedforward.drops_inside) out.keep(prefix + "inner.mask", width, Split::by_tensor, 1);
    out.products(count, chosen, hidden, (feedforward.gated ? 2 : 1) * feedforward.width,
                 feedforward.up_bias, Matrix::split_outputs);
    out.products(count, chosen, feedforward.width, hidden, feedforward.down_bias,
                 Matrix::split_inputs);
}

}  // namespace

void add_body(const StepSizes& step, const FeedForward& feedforward, PartSizes& out) {
    out.keep("up.in", step.model.hidden, Split::along_sequence);
    add_feedforward(step, feedforward, "", 1, 1, out);
}

void add_body(const StepSizes& step, const Experts& experts, PartSizes& out) {
    const std::int64_t hidden = step.model.hidden;
    const std::int64_t chosen_hidden = size_product({experts.chosen, hidden});
    if (!experts.router_in_32_bits || experts.shared.width > 0)
        out.keep("router.in", hidden, Split::along_sequence);
    if (experts.router_in_32_bits) out.keep("router.in.32", hidden, Split::along_sequence, 4);
    out.product(hidden, experts.count, experts.router_bias, Matrix::whole);
    out.keep("router.weights", experts.count, Split::along_sequence, 4);
    // Tokens that were sorted by expert are a copy of each token for each expert that takes it.
    out.keep("experts.in", chosen_hidden, Split::never);
    // Each device has some experts, which take as many tokens as the device has, if all are busy.
    out.set_of_experts(true);
    add_feedforward(step, experts.each, "experts.", experts.count / step.expert, experts.chosen,
                    out);
    out.set_of_experts(false);
    out.exchange(chosen_hidden);
    out.keep(experts.weighing == Weighing::of_outputs ? "experts.out" : "experts.weighed",
             chosen_hidden, Split::never);
    if (experts.shared.width > 0) add_feedforward(step, experts.shared, "shared.", 1, 1, out);
}

}  // namespace gradcoll::mover
