// mover/plan/count_layers.hpp - rules of other tools for choosing what moves: they count layers and
// know no times. Compared with what the planner finds, they show what knowing the times is worth.
#pragma once

#include <array>
#include <string_view>

#include "mover/plan/gaps.hpp"

namespace gradcoll::mover {

enum class Rule : std::uint8_t {
    ours,
    /// This is TransformerEngine's cpu_offload, which is Megatron's --cpu-offloading-num-layers:
    /// all activations of the first n of m layers go; those of layer i come back from the end of
    /// layer i + m - n's backward on, so that the device holds those of m - n layers.
    te,
    /// This is Megatron's --fine-grained-activation-offloading: what the first n modules keep goes;
    /// it comes back while the module whose backward is just before is at work.
    megatron,
    /// This is torchtune's OffloadActivations: all of a micro-batch goes but the n tensors that
    /// were saved last, and comes back while the operator before is at work.
    torchtune,
    /// This is DeepSpeed's cpu_checkpointing: the same for inputs of recomputed layers alone.
    deepspeed
};
inline constexpr std::array rules_that_count = {Rule::te, Rule::megatron, Rule::torchtune,
                                                Rule::deepspeed};

std::string_view name_of(Rule rule);

/// Returns the most that any rank may count: layers, of which one has to stay, for te; modules
/// (parts of layers) for megatron; tensors of a micro-batch for torchtune and deepspeed. If a rank
/// has several chunks (virtual stages), it counts in each, as both tools do.
std::int64_t most_counted(Rule rule, const Program& program);

/// Returns what the rule moves, for every micro-batch; all rules move only activations, and what
/// must move anyway. Megatron does not use te with pipelines: here its rule is applied to each
/// micro-batch. `rule` is not ours. Complexity: n log n in operators and gaps.
RankChoice count_layers(Rule rule, const RankProgram& rank, const std::vector<Gap>& gaps,
                        std::int64_t count);

}  // namespace gradcoll::mover
