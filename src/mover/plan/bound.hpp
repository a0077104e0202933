// mover/plan/bound.hpp - a length that no step can be shorter than, whatever moves.
#pragma once

#include "mover/plan/gaps.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Returns the longest of three: the step without moves; what it lasts if no more than the bytes
/// for which there is no room, at the operator that needs most so far, cross the rank's link before
/// it, and come back after the last operator that needs as much; and the time in which those bytes
/// cross it. What is used after that operator may have gone in the step before. `starts` are those
/// of the step without moves, `rest` the times from there to its end. Complexity: n log n in gaps.
Tick shortest_step(const Program& program, const Rooms& rooms, const MovableKinds& kinds,
                   const Starts& starts, const Starts& rest);

}  // namespace gradcoll::mover
