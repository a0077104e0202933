// mover/analysis/curve.hpp - memory over time as a plan has it, for pictures. The checker has its
// own idea of the same.
#pragma once

#include <vector>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// From `at` on.
struct MemoryPoint {
    Tick at = 0;
    std::int64_t bytes = 0;
};

/// What the rank's device holds: tensors from the start of what makes them, or of their PREFETCH,
/// to the end of what reads them last, or of their TRANSFER. One point a time, only where it
/// changes. Complexity: n log n.
std::vector<MemoryPoint> device_memory_over_time(const RankProgram& rank, const RankMoves& moves);

/// What lies in the rank's pool in the host.
std::vector<MemoryPoint> host_memory_over_time(const RankProgram& rank, const RankMoves& moves);

}  // namespace gradcoll::mover
