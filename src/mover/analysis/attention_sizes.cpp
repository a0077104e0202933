// mover/analysis/attention_sizes.cpp - what attention keeps. What eager attention keeps is counted
// as in Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (arXiv
// 2205.05198), section 4: 16-bit activations unless the model says otherwise, masks of one byte.
#include <algorithm>

#include "mover/analysis/part_sizes.hpp"

namespace gradcoll::mover {
namespace {

/// Adds what the core keeps beside its operands and its result: softmax and, with dropout, its mask
/// and its output; or a number for each row and head. A token may see `seen` others.
void keep_softmax(const StepSizes& step, std::int64_t heads, std::int64_t seen, PartSizes& out) {
    if (step.model.attention == Attention::flash)
        return out.keep("logsumexp", heads, Split::by_tensor, 4);
    out.keep_core("softmax", heads, seen, step.model.number_bytes);
    if (!step.model.dropout) return;
    out.keep_core("softmax.mask", heads, seen, 1);
    out.keep_core("softmax.dropped", heads, seen, step.model.number_bytes);
}

}  // namespace

void add_body(const StepSizes& step, const SelfAttention& attention, PartSizes& out) {
    const std::int64_t hidden = step.model.hidden;
    const std::int64_t query = size_product({attention.heads, attention.head_size});
    const std::int64_t key = size_product({attention.kv_heads, attention.head_size});
    const std::int64_t others = attention.over_encoder ? step.encoder_tokens : step.tokens;
    const std::int64_t others_of_sample =
        attention.over_encoder ? step.encoder_sequence : step.sequence;
    out.keep("qkv.in", hidden, Split::along_sequence);
    out.product(hidden, query, attention.query_bias, Matrix::split_outputs);
    out.norm(attention.head_norm, "query_norm.in", query, attention.head_size, Split::by_tensor);
    out.keep("query", query, Split::by_tensor);
    out.set_tokens(others);
    out.product(hidden, key, attention.key_bias, Matrix::split_outputs);
    out.product(hidden, key, attention.value_bias, Matrix::split_outputs);
    out.norm(attention.head_norm, "key_norm.in", key, attention.head_size, Split::by_tensor);
    out.keep("key", key, Split::by_tensor);
    out.keep("value", attention.values_in_product ? query + 2 * key : key, Split::by_tensor);
    out.set_tokens(step.tokens);
    out.keep("out.in", query, Split::by_tensor);
    keep_softmax(step, attention.heads, others_of_sample, out);
    if (attention.sinks) out.learn(attention.heads, Split::by_tensor);
    out.product(query, hidden, attention.out_bias, Matrix::split_inputs);
    const std::int64_t seen =
        attention.window > 0 ? std::min(attention.window, others_of_sample) : others_of_sample;
    out.core(4 * query, seen);
    out.share_tokens(query, key, key, seen);
}

void add_body(const StepSizes& step, const Distances& distances, PartSizes& out) {
    const std::int64_t pairs = size_product({step.sequence, step.sequence});
    out.learn(size_product({distances.count, distances.heads}), Split::by_tensor);
    out.keep_shared("rows", size_product({8, pairs}), Split::never);
    out.keep_shared("out", size_product({step.model.number_bytes, distances.heads, pairs}),
                    Split::by_tensor);
}

void add_body(const StepSizes& step, const LatentAttention& attention, PartSizes& out) {
    const std::int64_t hidden = step.model.hidden;
    const std::int64_t heads = attention.heads;
    const std::int64_t query = heads * (attention.position_size + attention.content_size);
    const std::int64_t expanded = heads * (attention.content_size + attention.value_size);
    const std::int64_t value = heads * attention.value_size;
    out.keep("qkv.in", hidden, Split::along_sequence);
    if (attention.query_rank > 0) {
        out.product(hidden, attention.query_rank, attention.down_bias, Matrix::whole);
        out.norm(Norm::scale, "query_norm.in", attention.query_rank, attention.query_rank,
                 Split::never);
        out.keep("query_up.in", attention.query_rank, Split::never);
        out.product(attention.query_rank, query, false, Matrix::split_outputs);
    } else {
        out.product(hidden, query, false, Matrix::split_outputs);
    }
    out.product(hidden, attention.kv_rank + attention.position_size, attention.down_bias,
                Matrix::whole);
    out.norm(Norm::scale, "kv_norm.in", attention.kv_rank, attention.kv_rank, Split::never);
    out.keep("kv_up.in", attention.kv_rank, Split::never);
    out.product(attention.kv_rank, expanded, false, Matrix::split_outputs);
    out.keep("query", query, Split::by_tensor);
    out.keep("key", query, Split::by_tensor);
    // Values are not copied out of the tensor that they were computed in, beside the keys.
    out.keep("value", expanded, Split::by_tensor);
    out.keep("out.in", value, Split::by_tensor);
    keep_softmax(step, heads, step.sequence, out);
    out.product(value, hidden, attention.out_bias, Matrix::split_inputs);
    out.core(2 * (query + value), step.sequence);
    out.share_tokens(query, query, value, step.sequence);
}

}  // namespace gradcoll::mover
