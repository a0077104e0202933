// mover/program/program.hpp - what every pipeline rank does in one training step, and what it holds
// meanwhile; analysis/ makes it, plan/ and check/ read it.
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
    buffers,      ///< for collectives and for messages between ranks
    workspace     ///< scratch memory of an operator while it runs; no tensor
};
inline constexpr int memory_kinds = 7;

std::string_view name_of(OperatorKind kind);
std::string_view name_of(MemoryKind kind);

/// An Operator runs on the rank's one compute stream, in the order of RankProgram::operators.
struct Operator {
    OperatorKind kind = OperatorKind::forward;
    std::int32_t layer = 0;        ///< index in Program::layer_names
    std::int32_t part = 0;         ///< which part of the layer
    std::int32_t micro_batch = 0;  ///< -1: all micro-batches
    Tick duration = 0;
    std::int64_t workspace_bytes = 0;
    /// Says that this is a collective whose bytes take the same way as moves: it has the rank's
    /// lane for itself.
    bool holds_lane = false;
    /// This operator of another rank must have ended `delay` ticks ago, so that its result has
    /// arrived. Rank -1: none.
    std::int32_t needs_rank = -1;
    std::int32_t needs_operator = 0;
    Tick delay = 0;
};

/// A DeviceTensor is one piece of device memory. It exists from the start of the operator that
/// makes it, uses.front(), to the end of the one that reads it last, uses.back(); one that stays
/// exists during the whole step (and was made before).
struct DeviceTensor {
    MemoryKind kind = MemoryKind::activations;
    bool stays = false;
    std::int32_t layer = -1;
    std::int32_t micro_batch = -1;  ///< -1: all micro-batches
    std::int32_t name = 0;          ///< index in Program::tensor_names
    std::int64_t bytes = 0;
    std::vector<std::int32_t>
        uses{};  ///< operators, ascending; at least one if the tensor does not stay
    /// This operator works on the tensor in the host, between two of its uses; -1: none.
    std::int32_t host_use = -1;
    /// So many tensors move as this one, one after the other.
    std::int32_t pieces = 1;
};

struct RankProgram {
    std::vector<Operator> operators;
    std::vector<DeviceTensor> tensors;
};

/// A Program has one RankProgram for each pipeline rank. All devices of a rank (its tensor- and
/// data-parallel ones) do the same at the same time, so one stands for them.
struct Program {
    std::vector<std::string> layer_names;
    std::vector<std::string> tensor_names;
    std::vector<RankProgram> ranks;
};

/// Starts holds the start of every operator of every rank.
using Starts = std::vector<std::vector<Tick>>;

/// Returns a label such as "forward layer 3, part 1, micro-batch 5".
std::string label_of(const Program& program, const Operator& op);
/// Returns a label such as "layer 3 attention.input, micro-batch 5".
std::string label_of(const Program& program, const DeviceTensor& tensor);

}  // namespace gradcoll::mover
