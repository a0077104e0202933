// mover/analysis/part_sizes.hpp - adds up what a part of a transformer's block learns, keeps and
// computes on one device of its tensor-parallel group, for one micro-batch.
#pragma once

#include <string>

#include "mover/analysis/layers.hpp"

namespace gradcoll::mover {

/// StepSizes has what the parts of blocks of one kind share. It refers to its arguments.
struct StepSizes {
    StepSizes(const TransformerModel& model, const Parallel& parallel, const Cluster& cluster,
              bool in_encoder);

    const TransformerModel& model;
    const Cluster& cluster;
    std::int64_t tensor;   ///< devices that share what tensor parallelism splits
    std::int64_t context;  ///< devices that share the tokens of a sample
    bool context_by_heads;
    std::int64_t expert;   ///< devices that share experts
    std::int64_t outside;  ///< devices that share what it does not split
    bool fused_activation;
    std::int64_t samples, sequence;
    std::int64_t tokens;  ///< on one device
    std::int64_t encoder_sequence, encoder_tokens;
};

/// Split says what the devices of a tensor-parallel group share of something.
enum class Split : std::uint8_t {
    by_tensor,
    along_sequence,  ///< or nothing, without sequence parallelism
    never
};

inline double wide(std::int64_t value) {
    return static_cast<double>(value);
}

struct SizedPart {
    LayerPart part;
    std::int64_t parameters = 0;
    std::int64_t of_experts = 0;  ///< see DeviceLayer
};

/// Waits says how long a part waits for messages of context- or expert-parallel devices.
struct Waits {
    Tick forward = 0;
    Tick backward = 0;
};

/// Returns the given time, unless it is negative.
Tick given_or(double given_us, Tick estimated);
/// Sets the given times, or those of the roofline plus those of the sums over the tensor-parallel
/// group and `waits`. `flops` and `bytes` are forward's.
void set_times(const StepSizes& step, const GivenTimes& given, double flops, double bytes,
               LayerPart& part, const Waits& waits = {});

/// Returns the numbers that a norm over `width` learns.
std::int64_t numbers_of(Norm norm, std::int64_t width);

/// Matrix says how tensor parallelism splits a matrix: its outputs (its bias with them), its inputs
/// (its bias is added to their sum), or not at all.
enum class Matrix : std::uint8_t { split_outputs, split_inputs, whole };

class PartSizes {
  public:
    PartSizes(const StepSizes& step, std::string name);

    /// Adds a tensor of `width` numbers for each token; `number_bytes` 0: those of activations.
    void keep(const std::string& name, std::int64_t width, Split split,
              std::int64_t number_bytes = 0);
    /// Adds a tensor of one number for each token, head and token that it may see.
    void keep_core(const std::string& name, std::int64_t heads, std::int64_t seen,
                   std::int64_t number_bytes);
    /// Adds a tensor that all samples share.
    void keep_shared(const std::string& name, std::int64_t bytes, Split split);
    /// Adds a norm over groups of `group` numbers of `width`, which all learn the same. It keeps
    /// its input under `name`.
    void norm(Norm norm, const std::string& name, std::int64_t width, std::int64_t group,
              Split split);
    /// Adds a product with a matrix.
    void product(std::int64_t inputs, std::int64_t outputs, bool bias, Matrix matrix);
    /// Adds `count` matrices of which each token takes `chosen`.
    void products(std::int64_t count, std::int64_t chosen, std::int64_t inputs,
                  std::int64_t outputs, bool bias, Matrix matrix);
    void learn(std::int64_t numbers, Split split);
    /// Adds a table of rows as wide as what flows through the blocks; few of them are read.
    void table(std::int64_t rows, Split split);
    /// Adds the core of attention: products of each token with so many that it sees.
    void core(std::int64_t flops_of_pair, std::int64_t seen);
    /// Adds what devices that share the tokens of a sample send for a core with so many numbers of
    /// queries, of keys and of values, which tensor parallelism splits. `keys` and `values` of
    /// each token that is seen elsewhere go around while it is at work; or all are swapped for
    /// those of all tokens of some heads before it, and results after it.
    void share_tokens(std::int64_t queries, std::int64_t keys, std::int64_t values,
                      std::int64_t seen);
    /// Adds what each token sends to the devices of its experts and gets back: `width` numbers.
    void exchange(std::int64_t width);
    /// Says that what is added from now on belongs to one of the step's experts, or to none.
    void set_of_experts(bool of_experts) { of_experts_ = of_experts && step_.expert > 1; }
    /// Sets how many tokens what is added from now on has; at first, those of the step.
    void set_tokens(std::int64_t tokens) { tokens_ = tokens; }

    SizedPart finish(const GivenTimes& given);

  private:
    std::int64_t shares(Split split) const;

    const StepSizes& step_;
    std::int64_t tokens_;
    SizedPart out_;
    /// Learned has the numbers that devices of a tensor-parallel group split or have whole.
    struct Learned {
        std::int64_t split_matrices = 0, split_vectors = 0, whole = 0;
        std::int64_t on_one_of(std::int64_t devices) const;
    };
    Learned& learned() { return of_experts_ ? of_experts_learned_ : learned_; }
    Waits waits(Tick core) const;

    Learned learned_, of_experts_learned_;
    void swap_heads(std::int64_t before, std::int64_t behind);

    bool of_experts_ = false;
    std::int64_t norms_ = 0;
    double around_ = 0, swapped_ = 0, exchanged_ = 0;  ///< bytes that a device sends in forward
    double split_flops_ = 0, whole_flops_ = 0, core_flops_ = 0;
    double unread_ = 0;  ///< numbers of matrices that no token takes, and of tables
};

// Each adds what the part keeps, learns and computes, but its norms around it.
void add_body(const StepSizes& step, const SelfAttention& attention, PartSizes& out);
void add_body(const StepSizes& step, const LatentAttention& attention, PartSizes& out);
void add_body(const StepSizes& step, const StateSpace& states, PartSizes& out);
void add_body(const StepSizes& step, const FeedForward& feedforward, PartSizes& out);
void add_body(const StepSizes& step, const Experts& experts, PartSizes& out);
void add_body(const StepSizes& step, const Distances& distances, PartSizes& out);
void add_body(const StepSizes& step, const EncoderEnd& end, PartSizes& out);
void add_body(const StepSizes& step, const Lookup& lookup, PartSizes& out);

/// Returns `bytes` for each number of what flows through the blocks, on one device.
std::int64_t of_row(const StepSizes& step, std::int64_t bytes);

DeviceLayer embedding(const StepSizes& step);
DeviceLayer layer_of(const StepSizes& step, const Block& block);

/// Checks that all heads can be dealt to so many tensor-parallel devices.
Status check_tensor(const TransformerModel& model, std::int64_t tensor);

/// Returns the last norm, the product with the vocabulary, and the loss as one layer. The table is
/// the head's own, or the embedding's.
DeviceLayer head(const StepSizes& step, bool own_table);

}  // namespace gradcoll::mover
