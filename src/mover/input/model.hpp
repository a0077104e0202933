// mover/input/model.hpp - the model to train, as it was described: a transformer by its figures, or
// a list of layers with what each keeps and how long it takes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mover/input/fields.hpp"
#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

/// GivenTimes says how long a part of a layer takes for one micro-batch on one device; negative: to
/// be estimated.
struct GivenTimes {
    double forward_us = -1;
    double backward_us = -1;
};

enum class Attention : std::uint8_t {
    eager,  ///< keeps softmax and its dropout, which grow with the square of the sequence
    flash   ///< keeps one number for each row and head instead
};

enum class Loss : std::uint8_t {
    fused,  ///< the logits are turned into their gradients in place
    eager   ///< logits, logarithms of probabilities, and gradients of both are tensors of their own
};

/// TransformerModel describes a decoder-only transformer.
struct TransformerModel {
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;     ///< 0: as many as heads
    std::int64_t head_size = 0;    ///< 0: hidden / heads
    std::int64_t feedforward = 0;  ///< 0: 4 * hidden
    std::int64_t vocabulary = 0;   ///< 0: only the layers, without embedding and head
    std::int64_t sequence = 0;
    std::int64_t positions = 0;  ///< learned positions; 0: none
    bool tied = false;           ///< embedding and head are one table
    bool gated = false;          ///< a third matrix in the feed-forward part (SwiGLU)
    bool biases = true;
    bool dropout = true;            ///< keeps masks
    std::int64_t number_bytes = 2;  ///< bytes of an activation
    Attention attention = Attention::flash;
    Loss loss = Loss::fused;
    GivenTimes embedding_times, attention_times, feedforward_times, head_times;
};

/// A KeptTensor is kept by a part of a layer until its backward; its size is that of one sample.
struct KeptTensor {
    std::string name;
    std::int64_t bytes = 0;
};

struct ListedLayer {
    std::string name;
    std::int64_t repeat = 1;
    std::int64_t parameters = 0;  ///< numbers, not bytes
    std::int64_t input_bytes =
        0;  ///< for one sample: the bytes kept for a layer that is recomputed
    std::int64_t workspace_bytes = 0;
    std::int64_t backward_workspace_bytes = -1;  ///< negative: as forward
    std::vector<KeptTensor> kept;
    double forward_flops = 0;  ///< for one sample
    GivenTimes times;          ///< for one micro-batch
};

struct Model {
    std::string name;
    std::variant<TransformerModel, std::vector<ListedLayer>> body;
};

/// Reads docs/schemas/mover-model.json. Errors of both readers: invalid_argument with file, place,
/// value and what is allowed.
Result<Model> own_model(const Document& document);
/// Reads a config.json of Hugging Face, which is recognised by its model_type.
Result<Model> model_of_hugging_face(const Document& document);

inline constexpr std::int64_t most_layers = 100'000;
inline constexpr std::int64_t most_wide = std::int64_t{1}
                                          << 24;  ///< upper bound of every other figure

}  // namespace gradcoll::mover
