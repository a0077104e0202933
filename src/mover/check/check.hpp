// mover/check/check.hpp - proves that a plan of moves is right, from the plan and the program
// alone: nothing here knows how plans are made.
#pragma once

#include "base/status.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// Checks three steps in a row by the plan, and names the first of these rules that it breaks. No
/// move lasts longer than the step after its own, so that more steps add nothing.
///   each operator starts when the one before it, and what it needs of other ranks, has ended;
///   a step begins when all operators of the one before it have ended;
///   no operator uses a tensor while it is away, and it is back before its next use;
///   a tensor that lives in the host comes before its first use and goes after its last, in this
///   step or the next, and is in the device only from the begin of its PREFETCH to the end of its
///   TRANSFER;
///   a tensor that an operator needs in the host has gone before it, and comes back after it;
///   no move is under way while a collective of its rank holds the lane;
///   a move takes at least the time that its bytes take, and comes back after it has gone;
///   a device has one move at a time in each direction;
///   no link or host memory exceeds its rate;
///   no device holds more than it may: memory is free when the TRANSFER has ended, and taken again
///   when the PREFETCH begins;
///   pieces of the pinned pool do not overlap while they are in use, and hosts have room for them.
/// The plan is not trusted: it may hold any numbers. Complexity: n log n in operators and moves.
Status check_plan(const Program& program, const Rooms& rooms, const MovePlan& plan);

/// Returns the most that each rank's device holds by a valid plan.
std::vector<std::int64_t> peaks_of(const Program& program, const MovePlan& plan);

}  // namespace gradcoll::mover
