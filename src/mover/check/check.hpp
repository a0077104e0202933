// mover/check/check.hpp - proves that a plan of moves is right, from the plan and the program
// alone: nothing here knows how plans are made.
#pragma once

#include "base/status.hpp"
#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

/// The first rule that is broken, in words. The rules:
///   each operator starts when the one before it has ended and what it needs of others has come;
///   a tensor that moves is used by no operator meanwhile, and is back before its next use;
///   one that lives in the host comes before its first use and goes after its last, and is in the
///   device only from the begin of the one to the end of the other;
///   what an operator needs in the host has gone before it, and comes back after it;
///   no move is under way while a collective of its rank holds the lane;
///   a move takes the time that its bytes take, at least, and comes back after it has gone;
///   one move at a time in each direction of a device, and no link or host memory over its rate;
///   no device holds more than it may: memory is free when the TRANSFER has ended, and taken again
///   when the PREFETCH begins;
///   pieces of the pinned pool do not overlap while they are in use, and hosts have the room;
///   the step lasts until operators and moves have ended, as the plan says.
/// The plan is not trusted: any numbers are fine. Complexity: n log n in operators and moves.
Status check_plan(const Program& program, const Rooms& rooms, const MovePlan& plan);

/// The most that each rank's device holds by a plan that is right.
std::vector<std::int64_t> peaks_of(const Program& program, const MovePlan& plan);

}  // namespace gradcoll::mover
