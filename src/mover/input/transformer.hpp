// mover/input/transformer.hpp - a transformer as a row of blocks. A block is a row of parts, which
// may differ from block to block: kinds of attention, of feed-forward parts, of norms.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace gradcoll::mover {

/// GivenTimes says how long a part of a layer takes for one micro-batch on one device; negative: to
/// be estimated.
struct GivenTimes {
    double forward_us = -1;
    double backward_us = -1;

    bool operator==(const GivenTimes&) const = default;
};

enum class Attention : std::uint8_t {
    eager,  ///< keeps softmax and its dropout, which grow with the square of the sequence
    flash   ///< keeps one number for each row and head instead
};

enum class Loss : std::uint8_t {
    fused,  ///< the logits are turned into their gradients in place
    eager   ///< logits, logarithms of probabilities, and gradients of both are tensors of their own
};

/// A Norm keeps its input; it learns so many numbers for each of its width.
enum class Norm : std::uint8_t { absent, learns_nothing, scale, scale_and_shift };

/// SelfAttention has queries, keys and values that are each one product of the part's input.
struct SelfAttention {
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_size = 0;
    bool query_bias = false, key_bias = false, value_bias = false, out_bias = false;
    Norm head_norm = Norm::absent;  ///< of each head's queries and keys; all heads learn the same
    /// If set, values stay inside the tensor that queries, keys and values were computed as, and
    /// all of it is kept beside the turned queries and keys.
    bool values_in_product = false;
    bool sinks = false;         ///< softmax has one more number, learned for each head
    std::int64_t window = 0;    ///< how many tokens a token sees; 0: all
    bool over_encoder = false;  ///< keys and values are those of the encoder's tokens

    bool operator==(const SelfAttention&) const = default;
};

/// LatentAttention computes queries, and keys with values, from short vectors of each token. The
/// part of the keys that knows positions is shared by all heads.
struct LatentAttention {
    std::int64_t heads = 0;
    std::int64_t query_rank = 0;  ///< 0: queries are one product
    std::int64_t kv_rank = 0;
    std::int64_t position_size = 0;  ///< numbers of a head's queries and keys that know positions
    std::int64_t content_size = 0;   ///< those that do not
    std::int64_t value_size = 0;
    bool down_bias = false, out_bias = false;

    bool operator==(const LatentAttention&) const = default;
};

/// StateSpace is a Mamba 2: a convolution over the last tokens, then states that are carried on
/// from token to token, computed a chunk at a time.
struct StateSpace {
    std::int64_t heads = 0;
    std::int64_t width = 0;  ///< numbers of all heads
    std::int64_t groups = 0;
    std::int64_t state_size = 0;
    std::int64_t convolved = 0;  ///< tokens that the convolution sees
    std::int64_t chunk = 0;
    bool in_bias = false, convolution_bias = false, out_bias = false;
    bool norm = false;  ///< of what leaves the states

    bool operator==(const StateSpace&) const = default;
};

struct FeedForward {
    std::int64_t width = 0;
    bool gated = false;  ///< has a third matrix (SwiGLU)
    bool up_bias = false, down_bias = false;
    bool of_positive = false;   ///< the activation keeps its result, not its input (ReLU)
    bool drops_inside = false;  ///< keeps a mask before the last product

    bool operator==(const FeedForward&) const = default;
};

enum class Weighing : std::uint8_t {
    of_outputs,  ///< what an expert returns is kept, for the gradient of its weight
    of_inputs    ///< the expert's input is kept before and after it is weighed
};

/// Experts are feed-forward parts of which a router chooses some for each token.
struct Experts {
    std::int64_t count = 0;
    std::int64_t chosen = 0;  ///< for each token
    FeedForward each;
    FeedForward shared;  ///< an expert for all tokens; width 0: none
    bool router_bias = false;
    bool router_in_32_bits = false;  ///< the router keeps a copy of its input
    Weighing weighing = Weighing::of_outputs;

    bool operator==(const Experts&) const = default;
};

/// Distances makes a number for each head and pair of tokens, which all attention behind it adds:
/// one of so many, by their distance.
struct Distances {
    std::int64_t count = 0;
    std::int64_t heads = 0;

    bool operator==(const Distances&) const = default;
};

/// EncoderEnd keeps what the encoder returns, for all parts of the decoder that look at it.
struct EncoderEnd {
    bool drops = false;  ///< keeps a mask, if the model keeps any

    bool operator==(const EncoderEnd&) const = default;
};

/// Lookup is where a decoder begins behind an encoder.
struct Lookup {
    std::int64_t words = 0;      ///< of a table of its own; 0: the encoder's
    std::int64_t positions = 0;  ///< learned positions

    bool operator==(const Lookup&) const = default;
};

/// A Part adds to what flows through the blocks; its input is normed, and its output may be.
struct Part {
    Norm norm_before = Norm::scale;
    Norm norm_behind = Norm::absent;
    std::variant<SelfAttention, LatentAttention, StateSpace, FeedForward, Experts, Distances,
                 EncoderEnd, Lookup>
        body;
    bool beside = false;  ///< its input is that of the part before it, which keeps it
    GivenTimes times{};

    bool operator==(const Part&) const = default;
};

struct Block {
    std::int64_t repeat = 1;
    bool in_encoder = false;  ///< of a model of encoder and decoder
    std::vector<Part> parts;
};

/// Words are read from a table, patches of images by a product, frames of sound by two
/// convolutions over three frames, of which the second takes every other frame.
enum class Reads : std::uint8_t { words, patches, frames };

/// An Embedding makes the numbers that flow through the blocks of what the model reads.
struct Embedding {
    Reads reads = Reads::words;
    std::int64_t numbers = 0;  ///< of a patch or a frame
    Norm norm = Norm::absent;  ///< behind it
    bool bias = true;          ///< of the product with patches
    bool first_token = true;   ///< a learned token stands before patches
};

/// A Head makes what the model returns, after the last norm.
struct Head {
    bool dense = false;  ///< there is a product, an activation and a norm first
    bool dense_bias = false;
    Norm dense_norm = Norm::absent;
    bool bias = false;
    bool of_first_token = false;   ///< only the first token's result is used
    bool drops = false;            ///< keeps a mask behind the norm, if the model keeps any
    std::int64_t logit_bytes = 4;  ///< of a number that the loss is computed of
};

struct TransformerModel {
    std::int64_t hidden = 0;
    std::vector<Block> blocks;
    std::int64_t vocabulary = 0;  ///< or classes; 0: only the blocks, without embedding and head
    std::int64_t sequence = 0;    ///< 0: the description does not say
    std::int64_t encoder_sequence = 0;  ///< of an encoder whose sequence is fixed
    std::int64_t positions = 0;         ///< learned positions; 0: none
    Embedding embedding{};
    Head head{};
    Norm last_norm = Norm::scale;
    bool tied = false;              ///< embedding and head are one table
    bool dropout = true;            ///< keeps masks
    std::int64_t number_bytes = 2;  ///< bytes of an activation
    std::int64_t flow_bytes = 0;    ///< of a number between blocks; 0: as an activation
    Attention attention = Attention::flash;
    Loss loss = Loss::fused;
    GivenTimes embedding_times, head_times;
};

/// Returns the bytes of a number that flows from block to block.
inline std::int64_t flow_bytes(const TransformerModel& model) {
    return model.flow_bytes > 0 ? model.flow_bytes : model.number_bytes;
}

/// A Product is one of each token with a matrix. Where an activation follows, it keeps its input.
struct Product {
    std::int64_t inputs = 0, outputs = 0;
    bool bias = false, activated = false;
};

/// A Connector makes tokens of a text model from patches that an encoder of images returns.
struct Connector {
    std::int64_t patches_of_token = 1;  ///< 0: patches of an image do not make its tokens
    Norm patch_norm = Norm::absent;
    bool averages = false;  ///< a token is the mean of its patches; otherwise it has all numbers
    Norm token_norm = Norm::absent;
    std::vector<Product> products{};
};

/// A Tower is an encoder of images beside a text model.
struct Tower {
    TransformerModel model;              ///< without its tokens, which the image says
    std::int64_t height = 0, width = 0;  ///< of an image, in pixels; 0: the model does not say
    std::int64_t patch_height = 1, patch_width = 1;
    bool takes_any_size = false;
    std::vector<Connector> connectors{};  ///< all read the same patches
    std::int64_t unused_numbers = 0;      ///< of a head that no loss is computed of
};

/// Adds a block of these parts behind the others. Blocks like the last one are counted with it.
void add_block(TransformerModel& model, std::vector<Part> parts, bool in_encoder = false);

/// EqualBlocks has the figures of blocks of attention and one feed-forward part, as descriptions of
/// models whose blocks are alike give them.
struct EqualBlocks {
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;     ///< 0: as many as heads
    std::int64_t head_size = 0;    ///< 0: hidden / heads
    std::int64_t feedforward = 0;  ///< 0: 4 * hidden
    bool gated = false;
    bool biases = true;  ///< of all products and norms
    GivenTimes attention_times{}, feedforward_times{};
};

/// Replaces the blocks and the last norm of `out`, which has `hidden`.
void set_blocks(const EqualBlocks& figures, TransformerModel& out);

}  // namespace gradcoll::mover
