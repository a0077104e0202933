// mover/plan/smallest.hpp - finds how little device memory a step needs for a given slowdown.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "mover/plan/planner.hpp"

namespace gradcoll::mover {

struct SmallestMemory {
    double slowdown = 0;            ///< the most that was asked for
    std::int64_t device_bytes = 0;  ///< for every device
    double slowdown_there = 0;
    std::int64_t counted = 0;  ///< PlannedStep::counted
};

/// Returns the smallest memory found for each slowdown, by halving between nothing and the peak
/// without moves, to a 200th of that peak. It assumes that less memory is slower, as is mostly
/// true; where it is not, a smaller one may exist. The rooms' own device_bytes are ignored. After
/// each halving `halved` is told what part of all work is done, 0 to 1.
std::vector<SmallestMemory> smallest_memory(const Program& program, const Rooms& rooms,
                                            const Policy& policy, std::span<const double> slowdowns,
                                            const std::function<void(double)>& halved = {});

}  // namespace gradcoll::mover
