// mover/analysis/memory.hpp - what a device holds while each operator of its rank runs, with
// nothing moved: by kind, and its peak; and over time by a plan, for pictures. The checker computes
// that independently.
#pragma once

#include <array>
#include <vector>

#include "mover/program/move_plan.hpp"
#include "mover/program/program.hpp"

namespace gradcoll::mover {

using BytesByKind = std::array<std::int64_t, memory_kinds>;

std::int64_t sum_of(const BytesByKind& bytes);

struct MemoryPeak {
    std::int64_t bytes = 0;
    std::int32_t at = 0;  ///< index of the operator during which the peak is reached
    BytesByKind by_kind{};
};

/// Returns the bytes held while each operator runs. Memory changes only where operators start and
/// end, so nothing is missed.
std::vector<BytesByKind> memory_of(const RankProgram& rank);
/// Returns the same with all kinds together.
std::vector<std::int64_t> held_by_operator(const RankProgram& rank);

MemoryPeak peak_of(const std::vector<BytesByKind>& memory);
/// Returns the most that one kind takes at any time.
std::int64_t peak_of(const std::vector<BytesByKind>& memory, MemoryKind kind);

/// From tick `at` on, `bytes` are held.
struct MemoryPoint {
    Tick at = 0;
    std::int64_t bytes = 0;
};

/// Returns what the rank's device holds by a plan in one of many steps of `step_ticks`: a tensor
/// counts from the start of the operator that makes it, or of its PREFETCH, to the end of the
/// operator that reads it last, or of its TRANSFER. There is at most one point for a tick, and only
/// where the sum changes. Complexity: n log n.
std::vector<MemoryPoint> device_memory_over_time(const RankProgram& rank, const RankMoves& moves,
                                                 Tick step_ticks);

/// Returns what the rank's pool in the host holds by a plan.
std::vector<MemoryPoint> host_memory_over_time(const RankProgram& rank, const RankMoves& moves);

}  // namespace gradcoll::mover
