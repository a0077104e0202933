// mover/plan/count_layers.hpp - rules of other tools for choosing what moves: they count layers and
// know no times. Compared with what the planner finds, they show what knowing the times is worth.
#pragma once

#include <string_view>

#include "mover/plan/choice.hpp"

namespace gradcoll::mover {

enum class Rule : std::uint8_t {
    ours,
    /// This is TransformerEngine's cpu_offload, which is Megatron's --cpu-offloading-num-layers:
    /// all activations of the first n of m layers go; those of layer i come back from the end of
    /// layer i + m - n's backward on, so that the device holds those of m - n layers.
    te,
    /// This is Megatron's --fine-grained-activation-offloading: what the first n modules keep goes;
    /// it comes back while the module whose backward is just before is at work.
    megatron
};
inline constexpr int rule_count = 3;

std::string_view name_of(Rule rule);

/// Returns the most that any rank may count: layers, of which one has to stay, for te; modules
/// (parts of layers) for megatron. If a rank has several chunks (virtual stages), it counts in
/// each, as both tools do.
std::int64_t most_counted(Rule rule, const Program& program);

/// Returns what the rule moves, for every micro-batch; both rules move only activations, and what
/// must move anyway. Megatron does not use te with pipelines: here its rule is applied to each
/// micro-batch. `rule` is not ours. Complexity: n log n in operators and gaps.
RankChoice count_layers(Rule rule, const RankProgram& rank, const std::vector<Gap>& gaps,
                        std::int64_t count);

}  // namespace gradcoll::mover
