// mover/plan/count_layers.hpp - how others choose what moves: they count layers and know no times.
// Beside what the planner finds, it shows what times are worth.
#pragma once

#include <string_view>

#include "mover/plan/choose.hpp"

namespace gradcoll::mover {

enum class Rule : std::uint8_t {
    ours,
    /// TransformerEngine's cpu_offload, which is Megatron's --cpu-offloading-num-layers: all
    /// activations of the first n of m layers go; those of layer i come back from the end of layer
    /// i + m - n's backward on, so that the device holds those of m - n layers.
    te,
    /// Megatron's --fine-grained-activation-offloading: what the first n modules keep goes; it
    /// comes back while the module whose backward is just before is at work.
    megatron
};
inline constexpr int rule_count = 3;

std::string_view name_of(Rule rule);

/// The most that may be counted, of any rank: te: layers, but one has to stay; megatron: modules
/// (parts of layers). Of each chunk of a rank with several (virtual stages), as both do.
std::int64_t most_counted(Rule rule, const Program& program);

/// What the rule moves, of every micro-batch; neither of them moves anything but activations, and
/// what must move anyway.
/// Pipelines are beyond Megatron's use of te: its rule is applied to each micro-batch. `rule` is
/// not ours. Complexity: n log n in operators and gaps.
RankChoice count_layers(Rule rule, const RankProgram& rank, const std::vector<Gap>& gaps,
                        std::int64_t count);

}  // namespace gradcoll::mover
