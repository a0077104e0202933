// mover/execution/paced_copy.hpp - bytes over a link that is none.
#pragma once

#include <cstddef>

#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

/// Copies no faster than the lane, a piece at a time, so that the processor is free between pieces.
/// Returns how long it took, which is the lane's ticks unless the machine is slower.
Tick paced_copy(std::byte* to, const std::byte* from, std::int64_t bytes, const Lane& lane);

}  // namespace gradcoll::mover
