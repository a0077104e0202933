// mover/plan/smallest.hpp - how little device memory a step can do with, for how much slowdown.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "mover/plan/planner.hpp"

namespace gradcoll::mover {

struct SmallestMemory {
    double slowdown = 0;            ///< at most this was asked for
    std::int64_t device_bytes = 0;  ///< of every device
    double slowdown_there = 0;
    std::int64_t counted = 0;  ///< PlannedStep::counted
};

/// For each slowdown the smallest memory that was found: by halving between nothing and the peak
/// without moves, to a 200th of that peak. Less memory is taken to be slower,
/// as it mostly is; where it is not, a smaller one may exist. The rooms' own device_bytes do not
/// count. `halved` is told after each halving of the first to the last slowdown what part of all
/// was done by it.
std::vector<SmallestMemory> smallest_memory(const Program& program, const Rooms& rooms,
                                            const Policy& policy, std::span<const double> slowdowns,
                                            const std::function<void(double)>& halved = {});

}  // namespace gradcoll::mover
