// mover/analysis/curve.hpp - memory over time by a plan, for pictures. The checker computes it
// independently.
#pragma once

#include <vector>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// From tick `at` on, `bytes` are held.
struct MemoryPoint {
    Tick at = 0;
    std::int64_t bytes = 0;
};

/// Returns what the rank's device holds in one of many steps of `step_ticks`: a tensor counts from
/// the start of the operator that makes it, or of its PREFETCH, to the end of the operator that
/// reads it last, or of its TRANSFER. There is at most one point for a tick, and only where the sum
/// changes. Complexity: n log n.
std::vector<MemoryPoint> device_memory_over_time(const RankProgram& rank, const RankMoves& moves,
                                                 Tick step_ticks);

/// Returns what the rank's pool in the host holds.
std::vector<MemoryPoint> host_memory_over_time(const RankProgram& rank, const RankMoves& moves);

}  // namespace gradcoll::mover
