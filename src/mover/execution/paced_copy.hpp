// mover/execution/paced_copy.hpp - copies bytes as slowly as a link of a given rate would.
#pragma once

#include <cstddef>

#include "mover/program/ticks.hpp"

namespace gradcoll::mover {

/// Copies no faster than the lane, a piece at a time, so that the processor is free between pieces.
/// Returns how long it took, which is the lane's ticks unless the machine is slower.
Tick paced_copy(std::byte* to, const std::byte* from, std::int64_t bytes, const Lane& lane);

}  // namespace gradcoll::mover
