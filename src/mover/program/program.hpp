// mover/program/program.hpp - what every pipeline rank does in one training step, and what it holds
// meanwhile: pure data, made by analysis/, read by plan/ and check/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

enum class OperatorKind : std::uint8_t {
    forward,
    recompute,  ///< forward again, because what backward needs was not kept
    backward,
    reduce,  ///< gradients are summed over the data-parallel ranks
    update   ///< the optimizer's step for a layer
};

enum class MemoryKind : std::uint8_t {
    parameters,
    gradients,
    optimizer,
    activations,  ///< kept from forward to backward
    recomputed,   ///< made again just before backward
    buffers,      ///< of collectives and of messages between ranks
    workspace     ///< of an operator while it runs; no tensor
};
inline constexpr int memory_kinds = 7;

std::string_view name_of(OperatorKind kind);
std::string_view name_of(MemoryKind kind);

/// Runs on the rank's one compute stream, in the order of RankProgram::operators.
struct Operator {
    OperatorKind kind = OperatorKind::forward;
    std::int32_t layer = 0;        ///< index in Program::layer_names
    std::int32_t part = 0;         ///< of the layer
    std::int32_t micro_batch = 0;  ///< -1: of all
    Tick duration = 0;
    std::int64_t workspace_bytes = 0;
    /// A collective whose bytes go where moves go: it has the rank's lane for itself.
    bool holds_lane = false;
    /// Another rank's operator whose result must have arrived: `delay` ticks after its end. Rank
    /// -1: nothing to wait for.
    std::int32_t needs_rank = -1;
    std::int32_t needs_operator = 0;
    Tick delay = 0;
};

/// What stands in device memory as one piece. It is there from the start of the operator that makes
/// it, uses.front(), to the end of the one that reads it last, uses.back(); one that stays is there
/// during the whole step (and was made before).
struct DeviceTensor {
    MemoryKind kind = MemoryKind::activations;
    bool stays = false;
    std::int32_t layer = -1;
    std::int32_t micro_batch = -1;  ///< -1: of all
    std::int32_t name = 0;          ///< index in Program::tensor_names
    std::int64_t bytes = 0;
    std::vector<std::int32_t>
        uses{};  ///< operators, ascending; of one that does not stay at least 1
    /// An operator that works on it in the host, between two of those; -1: none.
    std::int32_t host_use = -1;
};

struct RankProgram {
    std::vector<Operator> operators;
    std::vector<DeviceTensor> tensors;
};

/// One for each pipeline rank. All devices of a rank (its tensor- and data-parallel ones) do the
/// same at the same time, so one stands for them.
struct Program {
    std::vector<std::string> layer_names;
    std::vector<std::string> tensor_names;
    std::vector<RankProgram> ranks;
};

/// Start of every operator of every rank.
using Starts = std::vector<std::vector<Tick>>;

/// "forward layer 3, part 1, micro-batch 5"
std::string label_of(const Program& program, const Operator& op);
/// "layer 3 attention.input, micro-batch 5"
std::string label_of(const Program& program, const DeviceTensor& tensor);

}  // namespace gradcoll::mover
