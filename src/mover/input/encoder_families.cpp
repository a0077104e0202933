// mover/input/encoder_families.cpp - see config_figures.hpp.
#include <fmt/format.h>

#include <array>

#include "mover/input/config_figures.hpp"

namespace gradcoll::mover {
namespace {

/// Reads the model with the head of masked words.
void read_modernbert(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out);
    refuse_flag(in, "sparse_prediction", "the loss is computed of all tokens");
    const bool attention_bias = flag_at(in, "attention_bias"), bias = flag_at(in, "mlp_bias");
    const Norm norm = flag_at(in, "norm_bias") ? Norm::scale_and_shift : Norm::scale;
    out.embedding.norm = out.last_norm = norm;
    out.head = {.dense = true,
                .dense_bias = flag_at(in, "classifier_bias"),
                .dense_norm = norm,
                .bias = flag_at(in, "decoder_bias")};
    SelfAttention attention = attention_of(figures, attention_bias, attention_bias);
    attention.values_in_product = true;
    const FeedForward feedforward = gated_of(figures, bias);
    const std::int64_t every = required_at(in, "global_attn_every_n_layers");
    const auto windows = windows_at(
        in, figures.layers,
        {{"sliding_attention", integer_at(in, "local_attention")}, {"full_attention", 0}},
        [&](std::int64_t layer) { return every > 0 && layer % every != 0; });
    for (std::size_t l = 0; l < windows.size(); ++l) {
        attention.window = windows[l];
        // The first block's norm is that of the embedding.
        add_block(out,
                  {part_of(attention, l == 0 ? Norm::absent : norm), part_of(feedforward, norm)});
    }
}

std::int64_t classes_at(Fields& in) {
    const nlohmann::json* const names = in.inner("id2label");
    if (names != nullptr && names->is_object() && !names->empty())
        return static_cast<std::int64_t>(names->size());
    return required_at(in, "num_labels");
}

/// Reads the model with the head of classes of images.
void read_vit(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out, {.positions = "", .vocabulary = ""});
    const auto image = two_sides_at(in, "image_size"), patch = two_sides_at(in, "patch_size");
    const std::int64_t channels = required_at(in, "num_channels");
    out.vocabulary = classes_at(in);
    if (!in.done_ignoring_others().ok()) return;
    out.sequence = size_product({image[0] / patch[0], image[1] / patch[1]}) + 1;
    if (out.sequence > most_wide)
        in.wrong("patch_size", fmt::format("allowed are at most {} patches", most_wide));
    out.tied = false;
    out.positions = out.sequence;
    out.last_norm = Norm::scale_and_shift;
    out.embedding = {.reads = Reads::patches,
                     .numbers = size_product({channels, patch[0], patch[1]})};
    out.head = {.bias = true, .of_first_token = true};
    const SelfAttention attention = attention_of(figures, flag_at(in, "qkv_bias"), true);
    const FeedForward feedforward{.width = figures.feedforward, .up_bias = true, .down_bias = true};
    for (std::int64_t l = 0; l < figures.layers; ++l)
        add_block(out, {part_of(attention, Norm::scale_and_shift),
                        part_of(feedforward, Norm::scale_and_shift)});
}

/// Sides has the blocks of an encoder and its decoder.
struct Sides {
    std::vector<Part> encoder, decoder;
    std::int64_t encoder_blocks = 0, decoder_blocks = 0;
    Distances distances;  ///< of each side; count 0: none
    Lookup lookup;
    Norm norm = Norm::scale;
    bool drops_at_ends = false;
};

void add_side(const std::vector<Part>& parts, std::int64_t blocks, const Distances& distances,
              bool in_encoder, TransformerModel& out) {
    if (distances.count > 0) add_block(out, {part_of(distances, Norm::absent)}, in_encoder);
    for (std::int64_t l = 0; l < blocks; ++l) add_block(out, parts, in_encoder);
}

void add_sides(const Sides& sides, TransformerModel& out) {
    out.last_norm = sides.norm;
    // The loss is computed without 32-bit numbers.
    out.head = {.drops = sides.drops_at_ends, .logit_bytes = out.number_bytes};
    add_side(sides.encoder, sides.encoder_blocks, sides.distances, true, out);
    add_block(out, {part_of(EncoderEnd{sides.drops_at_ends}, sides.norm)}, true);
    add_block(out, {part_of(sides.lookup, Norm::absent)});
    add_side(sides.decoder, sides.decoder_blocks, sides.distances, false, out);
}

/// Refuses files of encoders, or decoders, alone.
void require_both_sides(Fields& in) {
    bool both = true;
    in.flag("is_encoder_decoder", both);
    if (!both) in.wrong("is_encoder_decoder", "allowed is true");
}

/// Reads `relu` or `gated-gelu`: a third matrix is there if it is gated.
FeedForward t5_feedforward(Fields& in, std::int64_t width, bool drops) {
    std::string words = "relu";
    in.text("feed_forward_proj", words);
    const bool gated = words.starts_with("gated-");
    if (!gated && words.find('-') != std::string::npos)
        in.wrong("feed_forward_proj", "allowed are an activation, or gated- and an activation");
    return {.width = width,
            .gated = gated,
            .of_positive = !gated && words == "relu",
            .drops_inside = drops};
}

void read_t5(Fields& in, TransformerModel& out) {
    const Figures figures = read_figures(in, out,
                                         {.layers = "num_layers",
                                          .hidden = "d_model",
                                          .heads = "num_heads",
                                          .feedforward = "d_ff",
                                          .positions = "n_positions",
                                          .head_size = "d_kv"});
    require_both_sides(in);
    const SelfAttention attention = attention_of(figures, false, false);
    SelfAttention cross = attention;
    cross.over_encoder = true;
    const Part feedforward = part_of(t5_feedforward(in, figures.feedforward, out.dropout));
    std::int64_t decoder_blocks = figures.layers;
    in.integer("num_decoder_layers", 1, most_layers, decoder_blocks);
    add_sides({.encoder = {part_of(attention), feedforward},
               .decoder = {part_of(attention), part_of(cross), feedforward},
               .encoder_blocks = figures.layers,
               .decoder_blocks = decoder_blocks,
               .distances = {required_at(in, "relative_attention_num_buckets"), figures.heads},
               .lookup = {},
               .drops_at_ends = true},
              out);
}

SelfAttention whisper_attention(const Figures& figures) {
    SelfAttention attention = attention_of(figures, true, true);
    attention.key_bias = false;
    return attention;
}

Part whisper_feedforward(std::int64_t width, bool drops) {
    return part_of(
        FeedForward{.width = width, .up_bias = true, .down_bias = true, .drops_inside = drops},
        Norm::scale_and_shift);
}

void read_whisper(Fields& in, TransformerModel& out) {
    const auto side = [&](std::string_view layers, std::string_view heads,
                          std::string_view feedforward) {
        return read_figures(in, out,
                            {.layers = layers,
                             .hidden = "d_model",
                             .heads = heads,
                             .feedforward = feedforward,
                             .positions = "max_target_positions"});
    };
    const Figures encoder = side("encoder_layers", "encoder_attention_heads", "encoder_ffn_dim");
    const Figures decoder = side("decoder_layers", "decoder_attention_heads", "decoder_ffn_dim");
    require_both_sides(in);
    double dropped = 0;
    in.number("activation_dropout", 0, 1, dropped);
    out.encoder_sequence = required_at(in, "max_source_positions");
    out.embedding = {.reads = Reads::frames, .numbers = required_at(in, "num_mel_bins")};
    out.positions = out.encoder_sequence;
    const auto normed = [](const SelfAttention& body) {
        return part_of(body, Norm::scale_and_shift);
    };
    SelfAttention cross = whisper_attention(decoder);
    cross.over_encoder = true;
    add_sides({.encoder = {normed(whisper_attention(encoder)),
                           whisper_feedforward(encoder.feedforward, dropped > 0)},
               .decoder = {normed(whisper_attention(decoder)), normed(cross),
                           whisper_feedforward(decoder.feedforward, dropped > 0)},
               .encoder_blocks = encoder.layers,
               .decoder_blocks = decoder.layers,
               .distances = {},
               .lookup = {.words = out.vocabulary, .positions = out.sequence},
               .norm = Norm::scale_and_shift},
              out);
}

constexpr std::array all_with_encoders = {
    Family{"modernbert",
           R"({"vocab_size": 50368, "hidden_size": 768, "intermediate_size": 1152,
               "num_hidden_layers": 22, "num_attention_heads": 12,
               "max_position_embeddings": 8192, "local_attention": 128,
               "global_attn_every_n_layers": 3, "decoder_bias": true,
               "tie_word_embeddings": true})",
           read_modernbert},
    Family{"vit",
           R"({"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
               "num_attention_heads": 12, "image_size": 224, "patch_size": 16,
               "num_channels": 3, "qkv_bias": true, "num_labels": 2})",
           read_vit},
    Family{"t5",
           R"({"vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
               "num_heads": 8, "relative_attention_num_buckets": 32, "n_positions": 512,
               "dropout_rate": 0.1, "tie_word_embeddings": true})",
           read_t5},
    Family{"whisper",
           R"({"vocab_size": 51865, "num_mel_bins": 80, "d_model": 384, "encoder_layers": 4,
               "encoder_attention_heads": 6, "encoder_ffn_dim": 1536, "decoder_layers": 4,
               "decoder_attention_heads": 6, "decoder_ffn_dim": 1536,
               "max_source_positions": 1500, "max_target_positions": 448,
               "tie_word_embeddings": true})",
           read_whisper},
};

}  // namespace

std::span<const Family> encoder_families() {
    return all_with_encoders;
}

}  // namespace gradcoll::mover
