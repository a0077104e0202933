// mover/input/config_figures.hpp - the families of models whose config.json is read, and what their
// readers have in common: figures that nearly all models of Hugging Face have, under nearly the
// same names.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "mover/input/fields.hpp"
#include "mover/input/model.hpp"
#include "mover/input/transformer.hpp"

namespace gradcoll::mover {

struct FigureNames {
    std::string_view layers = "num_hidden_layers";
    std::string_view hidden = "hidden_size";
    std::string_view heads = "num_attention_heads";
    // An empty one of these is not read.
    std::string_view feedforward = "intermediate_size";
    std::string_view positions = "max_position_embeddings";
    std::string_view vocabulary = "vocab_size";
    std::string_view head_size = "head_dim";
};

/// Figures are all 0 if one of them is wrong.
struct Figures {
    std::int64_t layers = 0, heads = 0, kv_heads = 0, head_size = 0, feedforward = 0;
};

/// Reads these, and of `out` hidden, vocabulary, sequence, whether it is tied, and dropout.
Figures read_figures(Fields& in, TransformerModel& out, const FigureNames& names = {});

bool flag_at(Fields& in, std::string_view key);
/// Returns 0 if the key is missing, or its value is not from `least` to `most`.
std::int64_t integer_at(Fields& in, std::string_view key, std::int64_t least = 1,
                        std::int64_t most = most_wide);
/// Records a fault as well if the key is missing.
std::int64_t required_at(Fields& in, std::string_view key, std::int64_t least = 1,
                         std::int64_t most = most_wide);
/// Returns height and width, which may be one number.
std::array<std::int64_t, 2> two_sides_at(Fields& in, std::string_view key);
/// Records a fault if the flag is true.
void refuse_flag(Fields& in, std::string_view key, const std::string& why);

/// A LayerType is a word of `layer_types` and how many tokens a token of such a layer sees; 0: all.
struct LayerType {
    std::string_view word;
    std::int64_t window = 0;
};

/// Returns the window of each layer, from `layer_types`, or where that is missing from `otherwise`,
/// which says whether a layer is of the first type.
std::vector<std::int64_t> windows_at(Fields& in, std::int64_t layers,
                                     const std::vector<LayerType>& types,
                                     const std::function<bool(std::int64_t layer)>& otherwise);

/// Returns a flag for each layer from a list of layers' numbers.
std::vector<bool> layers_listed_at(Fields& in, std::string_view key, std::int64_t layers);

SelfAttention attention_of(const Figures& figures, bool in_bias, bool out_bias);
/// Returns a feed-forward part of three matrices.
FeedForward gated_of(const Figures& figures, bool bias = false);
Part part_of(const decltype(Part::body)& body, Norm before = Norm::scale,
             Norm behind = Norm::absent);

struct Family {
    std::string_view type;      ///< model_type
    std::string_view defaults;  ///< an object of JSON
    void (*read)(Fields& in, TransformerModel& out);
};

/// A TowerFamily is a model of text and images: what reads its encoder of images, and what joins
/// that to a text model of so many numbers a token.
struct TowerFamily {
    std::string_view type;      ///< model_type of both together
    std::string_view defaults;  ///< an object of JSON, of `vision_config`
    std::string_view outer_defaults;
    void (*read)(Fields& in, Fields& outer, std::int64_t text_hidden, Tower& out);
};
std::span<const TowerFamily> tower_families();

/// These are decoders whose blocks are attention and one feed-forward part.
std::span<const Family> dense_families();
/// These are decoders with experts.
std::span<const Family> expert_families();
/// These have state spaces.
std::span<const Family> state_space_families();
/// These are encoders, and encoders with a decoder.
std::span<const Family> encoder_families();

}  // namespace gradcoll::mover
