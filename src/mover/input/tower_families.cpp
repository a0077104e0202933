// mover/input/tower_families.cpp - encoders of images beside text models; see config_figures.hpp.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "mover/input/config_figures.hpp"

namespace gradcoll::mover {
namespace {

/// Records a fault if another kind of encoder is named.
void require_type(Fields& in, std::string_view type) {
    std::string found(type);
    in.text("model_type", found);
    if (found != type) in.wrong("model_type", fmt::format("allowed is {}", type));
}

/// Reads how an image is cut into patches, which `frames` of a film share.
void read_patches(Fields& in, std::string_view channels_key, std::int64_t frames,
                  Embedding embedding, Tower& out) {
    const std::int64_t channels = required_at(in, channels_key);
    const auto patch = two_sides_at(in, "patch_size");
    if (in.has("image_size")) {
        const auto image = two_sides_at(in, "image_size");
        out.height = image[0];
        out.width = image[1];
    }
    if (!in.done_ignoring_others().ok()) return;
    out.patch_height = patch[0];
    out.patch_width = patch[1];
    out.model.embedding = embedding;
    out.model.embedding.reads = Reads::patches;
    out.model.embedding.numbers = size_product({channels, frames, patch[0], patch[1]});
}

/// Returns the patches of an image whose size the model says.
std::int64_t patches_of(const Tower& tower) {
    return size_product({tower.height / tower.patch_height, tower.width / tower.patch_width});
}

void add_blocks(const Figures& figures, const SelfAttention& attention,
                const FeedForward& feedforward, Norm norm, TransformerModel& out) {
    for (std::int64_t l = 0; l < figures.layers; ++l)
        add_block(out, {part_of(attention, norm), part_of(feedforward, norm)});
}

/// Returns a feed-forward part of two matrices with biases.
FeedForward two_of(std::int64_t width) {
    return {.width = width, .up_bias = true, .down_bias = true};
}

constexpr FigureNames usual = {.positions = "", .vocabulary = ""};
constexpr FigureNames of_qwen = {
    .layers = "depth", .heads = "num_heads", .positions = "", .vocabulary = ""};

/// Reads SigLIP, and Gemma 3's projection of averages.
void read_gemma3_tower(Fields& in, Fields& outer, std::int64_t text_hidden, Tower& out) {
    require_type(in, "siglip_vision_model");
    const Figures figures = read_figures(in, out.model, usual);
    read_patches(in, "num_channels", 1, {.first_token = false}, out);
    const std::int64_t tokens = required_at(outer, "mm_tokens_per_image");
    bool has_head = true;
    in.flag("vision_use_head", has_head);
    if (!in.done_ignoring_others().ok() || !outer.done_ignoring_others().ok()) return;
    const std::int64_t patches = patches_of(out), hidden = out.model.hidden;
    out.model.positions = patches;
    out.model.last_norm = Norm::scale_and_shift;
    add_blocks(figures, attention_of(figures, true, true), two_of(figures.feedforward),
               Norm::scale_and_shift, out.model);
    out.connectors = {{.patches_of_token = patches % tokens == 0 ? patches / tokens : 0,
                       .averages = true,
                       .token_norm = Norm::scale,
                       .products = {{hidden, text_hidden}}}};
    // The head has a token that looks at all others, a norm and a feed-forward part.
    if (has_head)
        out.unused_numbers = hidden + 4 * hidden * hidden + 4 * hidden + 2 * hidden +
                             2 * hidden * figures.feedforward + figures.feedforward + hidden;
}

/// Reads Pixtral, and Mistral 3's projection of neighbours.
void read_mistral3_tower(Fields& in, Fields& outer, std::int64_t text_hidden, Tower& out) {
    require_type(in, "pixtral");
    const Figures figures = read_figures(in, out.model, usual);
    read_patches(in, "num_channels", 1, {.norm = Norm::scale, .bias = false, .first_token = false},
                 out);
    const std::int64_t merged = required_at(outer, "spatial_merge_size", 1, 64);
    const bool bias = flag_at(outer, "multimodal_projector_bias");
    const nlohmann::json* layer = outer.inner("vision_feature_layer");
    if (layer != nullptr && *layer != -1)
        outer.wrong("vision_feature_layer", "allowed is -1, the last layer");
    out.takes_any_size = true;
    out.model.last_norm = Norm::absent;
    add_blocks(figures, attention_of(figures, false, false), gated_of(figures), Norm::scale,
               out.model);
    const std::int64_t hidden = out.model.hidden, patches = merged * merged;
    out.connectors = {{.patches_of_token = patches,
                       .patch_norm = Norm::scale,
                       .products = {{hidden * patches, hidden},
                                    {hidden, text_hidden, bias, true},
                                    {text_hidden, text_hidden, bias}}}};
}

/// Reads Llama 4's encoder, and its projection of shuffled pixels.
void read_llama4_tower(Fields& in, Fields& /*outer*/, std::int64_t text_hidden, Tower& out) {
    const Figures figures = read_figures(in, out.model, usual);
    read_patches(in, "num_channels", 1,
                 {.norm = Norm::scale_and_shift, .bias = false, .first_token = true}, out);
    const std::int64_t inner = required_at(in, "projector_input_dim");
    const std::int64_t result = required_at(in, "projector_output_dim");
    const std::int64_t returned = required_at(in, "vision_output_dim");
    double ratio = 0.5;
    in.number("pixel_shuffle_ratio", 1.0 / 64, 1, ratio);
    if (!in.done_ignoring_others().ok()) return;
    const auto side = static_cast<std::int64_t>(std::lround(1 / ratio));
    out.model.positions = patches_of(out) + 1;
    out.model.last_norm = Norm::scale_and_shift;
    add_blocks(figures, attention_of(figures, true, true), two_of(figures.feedforward),
               Norm::scale_and_shift, out.model);
    out.connectors = {{.patches_of_token = side * side,
                       .products = {{figures.feedforward, inner, false, true},
                                    {result, result, false, true},
                                    {returned, text_hidden}}}};
}

/// Returns what makes a token of neighbours, by two products.
Connector merger_of(std::int64_t hidden, std::int64_t merged, std::int64_t result, Norm patch_norm,
                    Norm token_norm = Norm::absent) {
    const std::int64_t patches = merged * merged, wide = hidden * patches;
    return {.patches_of_token = patches,
            .patch_norm = patch_norm,
            .token_norm = token_norm,
            .products = {{wide, wide, true, true}, {wide, result, true}}};
}

SelfAttention qwen_attention(const Figures& figures) {
    SelfAttention attention = attention_of(figures, true, true);
    attention.values_in_product = true;
    return attention;
}

void read_qwen_patches(Fields& in, bool bias, Tower& out) {
    read_patches(in, "in_channels", required_at(in, "temporal_patch_size"),
                 {.bias = bias, .first_token = false}, out);
    out.takes_any_size = true;
    out.model.last_norm = Norm::absent;
}

void read_qwen2_tower(Fields& in, Fields& /*outer*/, std::int64_t /*text_hidden*/, Tower& out) {
    FigureNames names = of_qwen;
    names.hidden = "embed_dim";
    names.feedforward = "";
    const Figures figures = read_figures(in, out.model, names);
    read_qwen_patches(in, false, out);
    const std::int64_t width = required_at(in, "mlp_ratio") * out.model.hidden;
    add_blocks(figures, qwen_attention(figures), two_of(width), Norm::scale_and_shift, out.model);
    out.connectors = {merger_of(out.model.hidden, required_at(in, "spatial_merge_size", 1, 64),
                                required_at(in, "hidden_size"), Norm::scale_and_shift)};
}

/// Reads an encoder whose tokens see those of a square window, but in some layers.
void read_qwen2_5_tower(Fields& in, Fields& /*outer*/, std::int64_t /*text_hidden*/, Tower& out) {
    const Figures figures = read_figures(in, out.model, of_qwen);
    read_qwen_patches(in, false, out);
    const std::int64_t window = required_at(in, "window_size");
    const std::vector<bool> sees_all =
        layers_listed_at(in, "fullatt_block_indexes", figures.layers);
    if (!in.done_ignoring_others().ok()) return;
    SelfAttention attention = qwen_attention(figures);
    const FeedForward feedforward = gated_of(figures, true);
    for (const bool all : sees_all) {
        attention.window =
            all ? 0 : size_product({window / out.patch_height, window / out.patch_width});
        add_block(out.model, {part_of(attention), part_of(feedforward)});
    }
    out.connectors = {merger_of(out.model.hidden, required_at(in, "spatial_merge_size", 1, 64),
                                required_at(in, "out_hidden_size"), Norm::scale)};
}

/// Reads an encoder of which some layers' patches become tokens as well.
void read_qwen3_tower(Fields& in, Fields& /*outer*/, std::int64_t /*text_hidden*/, Tower& out) {
    const Figures figures = read_figures(in, out.model, of_qwen);
    read_qwen_patches(in, true, out);
    out.model.positions = required_at(in, "num_position_embeddings");
    const std::int64_t merged = required_at(in, "spatial_merge_size", 1, 64);
    const std::int64_t result = required_at(in, "out_hidden_size");
    const std::vector<bool> joins =
        layers_listed_at(in, "deepstack_visual_indexes", figures.layers);
    add_blocks(figures, qwen_attention(figures), two_of(figures.feedforward), Norm::scale_and_shift,
               out.model);
    out.connectors = {merger_of(out.model.hidden, merged, result, Norm::scale_and_shift)};
    for (const bool one : joins)
        if (one)
            out.connectors.push_back(
                merger_of(out.model.hidden, merged, result, Norm::absent, Norm::scale_and_shift));
}

constexpr std::array all_towers = {
    TowerFamily{"gemma3",
                R"({"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
                    "num_attention_heads": 12, "num_channels": 3, "image_size": 224,
                    "patch_size": 16})",
                R"({"mm_tokens_per_image": 256})", read_gemma3_tower},
    TowerFamily{"llama4",
                R"({"hidden_size": 768, "num_hidden_layers": 34, "num_attention_heads": 16,
                    "num_channels": 3, "intermediate_size": 5632, "vision_output_dim": 7680,
                    "image_size": 448, "patch_size": 14, "projector_input_dim": 4096,
                    "projector_output_dim": 4096})",
                "{}", read_llama4_tower},
    TowerFamily{"mistral3",
                R"({"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
                    "num_attention_heads": 16, "num_channels": 3, "image_size": 1024,
                    "patch_size": 16})",
                R"({"spatial_merge_size": 2, "vision_feature_layer": -1,
                    "vision_config": {"patch_size": 14, "image_size": 1540}})",
                read_mistral3_tower},
    TowerFamily{"qwen2_vl",
                R"({"depth": 32, "embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4,
                    "num_heads": 16, "in_channels": 3, "patch_size": 14, "spatial_merge_size": 2,
                    "temporal_patch_size": 2})",
                "{}", read_qwen2_tower},
    TowerFamily{"qwen2_5_vl",
                R"({"depth": 32, "hidden_size": 3584, "intermediate_size": 3420, "num_heads": 16,
                    "in_channels": 3, "patch_size": 14, "spatial_merge_size": 2,
                    "temporal_patch_size": 2, "window_size": 112, "out_hidden_size": 3584,
                    "fullatt_block_indexes": [7, 15, 23, 31]})",
                "{}", read_qwen2_5_tower},
    TowerFamily{"qwen3_vl",
                R"({"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16,
                    "in_channels": 3, "patch_size": 16, "spatial_merge_size": 2,
                    "temporal_patch_size": 2, "out_hidden_size": 3584,
                    "num_position_embeddings": 2304, "deepstack_visual_indexes": [8, 16, 24]})",
                "{}", read_qwen3_tower},
};

}  // namespace

std::span<const TowerFamily> tower_families() {
    return all_towers;
}

}  // namespace gradcoll::mover
