// mover/analysis/transformer_layers.cpp - sizes of a transformer's layers. What eager attention
// keeps is counted as in Korthikanti et al., "Reducing Activation Recomputation in Large
// Transformer Models" (arXiv 2205.05198), section 4: 16-bit activations unless the model says
// otherwise, masks of one byte.
#include <fmt/format.h>

#include "mover/analysis/layers.hpp"

namespace gradcoll::mover {
namespace {

class TransformerSizes {
  public:
    TransformerSizes(const TransformerModel& model, const Parallel& parallel,
                     const Cluster& cluster)
        : model_(model),
          number_(model.number_bytes),
          cluster_(cluster),
          tensor_(parallel.tensor),
          // Tensors that tensor parallelism does not split are split along the sequence, or not at
          // all.
          outside_(parallel.sequence_parallel ? parallel.tensor : 1),
          fused_(parallel.fused_activation),
          sequence_(parallel.sequence > 0 ? parallel.sequence : model.sequence),
          tokens_(size_product({sequence_, parallel.micro_batch_size})),
          row_(size_product({tokens_, model.hidden})) {}

    DeviceLayer embedding() const {
        DeviceLayer layer{.name = "embedding", .place = LayerPlace::first, .recomputable = false};
        layer.parameters = divided_up(size_product({model_.vocabulary, model_.hidden}), tensor_) +
                           size_product({model_.positions, model_.hidden});
        LayerPart& part = layer.parts.emplace_back();
        part.name = "lookup";
        if (model_.dropout) part.kept.push_back({"mask", outside(1)});
        part.forward = given_or(model_.embedding_times.forward_us,
                                roofline_ticks(cluster_, 0, 2.0 * wide(number_) * wide(row_)));
        part.backward = given_or(model_.embedding_times.backward_us, part.forward);
        return layer;
    }

    /// Returns the last norm, the product with the vocabulary, and the loss as one layer.
    DeviceLayer head(bool own_table) const {
        DeviceLayer layer{.name = "head", .place = LayerPlace::last, .recomputable = false};
        layer.parameters =
            norm() +
            (own_table ? divided_up(size_product({model_.vocabulary, model_.hidden}), tensor_) : 0);
        LayerPart& part = layer.parts.emplace_back();
        part.name = "loss";
        const std::int64_t logits =
            divided_up(size_product({4, tokens_, model_.vocabulary}), tensor_);
        part.kept = {
            {"norm.in", outside(number_)}, {"product.in", outside(number_)}, {"logits", logits}};
        if (model_.loss == Loss::eager) {
            part.workspace_bytes = logits;
            part.backward_workspace_bytes = size_product({2, logits});
        }
        const double flops = 2.0 * wide(row_) * wide(model_.vocabulary) / wide(tensor_);
        set_times(part, model_.head_times, flops, 2.0 * wide(layer.parameters));
        return layer;
    }

    DeviceLayer block(std::int64_t index) const {
        DeviceLayer layer{.name = fmt::format("layer {}", index)};
        layer.input_bytes = outside(number_);
        layer.parameters = 2 * norm() + attention_parameters() + feedforward_parameters();
        layer.parts = {attention(), feedforward()};
        return layer;
    }

  private:
    static double wide(std::int64_t value) { return static_cast<double>(value); }
    std::int64_t outside(std::int64_t bytes) const {
        return divided_up(size_product({bytes, row_}), outside_);
    }
    /// Returns the bytes of `width` numbers for each token, split by tensor parallelism.
    std::int64_t split(std::int64_t bytes, std::int64_t width) const {
        return divided_up(size_product({bytes, tokens_, width}), tensor_);
    }
    std::int64_t query_width() const { return size_product({model_.heads, model_.head_size}); }
    std::int64_t key_width() const { return size_product({model_.kv_heads, model_.head_size}); }

    std::int64_t norm() const { return (model_.biases ? 2 : 1) * model_.hidden; }
    std::int64_t attention_parameters() const {
        const std::int64_t out_of = query_width() + 2 * key_width();
        return divided_up(size_product({model_.hidden, out_of + query_width()}), tensor_) +
               (model_.biases ? divided_up(out_of, tensor_) + model_.hidden : 0);
    }
    std::int64_t feedforward_parameters() const {
        const std::int64_t inner = size_product({model_.gated ? 2 : 1, model_.feedforward});
        return divided_up(size_product({model_.hidden, inner + model_.feedforward}), tensor_) +
               (model_.biases ? divided_up(inner, tensor_) + model_.hidden : 0);
    }

    LayerPart attention() const {
        LayerPart part{.name = "attention"};
        part.kept = {{"norm.in", outside(number_)},
                     {"qkv.in", outside(number_)},
                     {"query", split(number_, query_width())},
                     {"key", split(number_, key_width())},
                     {"value", split(number_, key_width())},
                     {"out.in", split(number_, query_width())}};
        const std::int64_t rows = size_product({model_.heads, tokens_});
        if (model_.attention == Attention::eager)
            add_core(part, rows);
        else
            part.kept.push_back({"logsumexp", divided_up(size_product({4, rows}), tensor_)});
        if (model_.dropout) part.kept.push_back({"mask", outside(1)});
        const double core = 4.0 * wide(tokens_) * wide(sequence_) * wide(query_width());
        const double products =
            2.0 * wide(tokens_) * wide(model_.hidden) * wide(2 * query_width() + 2 * key_width());
        set_times(part, model_.attention_times, (core + products) / wide(tensor_),
                  2.0 * wide(attention_parameters()) + bytes_of(part));
        part.core_forward = roofline_ticks(cluster_, core / wide(tensor_), 0);
        return part;
    }

    /// Adds softmax and, with dropout, its mask and its output.
    void add_core(LayerPart& part, std::int64_t rows) const {
        const auto square = [&](std::int64_t bytes) {
            return divided_up(size_product({bytes, rows, sequence_}), tensor_);
        };
        part.kept.push_back({"softmax", square(number_), true});
        if (!model_.dropout) return;
        part.kept.push_back({"softmax.mask", square(1), true});
        part.kept.push_back({"softmax.dropped", square(number_), true});
    }

    LayerPart feedforward() const {
        LayerPart part{.name = "feedforward"};
        part.kept = {{"norm.in", outside(number_)},
                     {"up.in", outside(number_)},
                     {"down.in", split(number_, model_.feedforward)}};
        if (!fused_) part.kept.push_back({"up.out", split(number_, model_.feedforward)});
        if (model_.gated) part.kept.push_back({"gate.out", split(number_, model_.feedforward)});
        if (model_.dropout) part.kept.push_back({"mask", outside(1)});
        const double flops = 2.0 * wide(row_) * wide(model_.feedforward) *
                             (model_.gated ? 3.0 : 2.0) / wide(tensor_);
        set_times(part, model_.feedforward_times, flops,
                  2.0 * wide(feedforward_parameters()) + bytes_of(part));
        return part;
    }

    static double bytes_of(const LayerPart& part) {
        double bytes = 0;
        for (const KeptPart& kept : part.kept) bytes += wide(kept.bytes);
        return bytes;
    }

    /// Sets the given times, or the roofline's, plus those of the sums over the tensor-parallel
    /// group.
    void set_times(LayerPart& part, const GivenTimes& given, double flops, double bytes) const {
        const double sums = 2.0 * wide(number_) * wide(row_) * wide(tensor_ - 1) / wide(tensor_);
        const Tick summed =
            tensor_ > 1 ? ticks_of_seconds(sums / (cluster_.tensor_gbytes_per_s * 1e9)) : 0;
        part.forward = given_or(given.forward_us, roofline_ticks(cluster_, flops, bytes) + summed);
        part.backward =
            given_or(given.backward_us, roofline_ticks(cluster_, 2 * flops, 2 * bytes) + summed);
    }

    static Tick given_or(double given_us, Tick estimated) {
        return given_us >= 0 ? ticks_of_seconds(given_us * 1e-6) : estimated;
    }

    const TransformerModel& model_;
    std::int64_t number_;
    const Cluster& cluster_;
    std::int64_t tensor_, outside_;
    bool fused_;
    std::int64_t sequence_, tokens_, row_;
};

}  // namespace

Result<std::vector<DeviceLayer>> layers_of(const TransformerModel& model, const Parallel& parallel,
                                           const Cluster& cluster) {
    if (model.heads % parallel.tensor != 0)
        return Status(Code::invalid_argument,
                      fmt::format("tensor: found {}, allowed are divisors of the model's heads, {}",
                                  parallel.tensor, model.heads));
    const TransformerSizes sizes(model, parallel, cluster);
    std::vector<DeviceLayer> layers;
    layers.reserve(static_cast<std::size_t>(model.layers) + 2);
    if (model.vocabulary > 0) layers.push_back(sizes.embedding());
    for (std::int64_t l = 0; l < model.layers; ++l) layers.push_back(sizes.block(l));
    // The first and the last pipeline rank each need the table, even if it is shared.
    if (model.vocabulary > 0) layers.push_back(sizes.head(!model.tied || parallel.pipeline > 1));
    return layers;
}

}  // namespace gradcoll::mover
