// mover/execution/move_order.hpp - a plan without its clock: the order in which operators and moves
// take memory, run, and follow each other.
#pragma once

#include <vector>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

inline std::size_t index_of(std::int32_t number) {
    return static_cast<std::size_t>(number);
}

/// A Claim is a request for memory: an operator's for what it makes and its workspace, or a move's
/// for its PREFETCH.
struct Claim {
    bool is_move = false;
    std::size_t index = 0;
    /// A move may claim once this operator has ended: the last one that has ended in the plan when
    /// the PREFETCH starts. -1: when the step begins.
    std::int32_t after = -1;
    std::int64_t bytes = 0;
    bool is_ahead = false;  ///< for the next step
};

/// MoveOrder says what each operator and move waits for. Each waits only for what the plan has
/// earlier, so nothing waits in a circle, whatever takes longer than planned.
struct MoveOrder {
    std::vector<Claim> claims;           ///< ordered by the plan's time
    std::vector<std::size_t> transfers;  ///< moves, ordered by the start of their TRANSFERs
    /// These moves must have left a move's place in the pool before its TRANSFER.
    std::vector<std::vector<std::size_t>> place_after;
    /// This operator must have ended before a move's TRANSFER: the one that used the tensor last,
    /// or a collective that held the lane after it. -1: the begin of the step; operators of the
    /// next step count on from those of this one.
    std::vector<std::int32_t> sent_after;
    std::vector<std::vector<std::size_t>> needed_by;  ///< moves, by operator
    /// These moves must have left before the operator, which works on their tensors in the host.
    std::vector<std::vector<std::size_t>> gone_by;
    /// Ended says how many TRANSFERs and PREFETCHs, of those that start in this step or the one
    /// before, have ended before a collective that holds the lane.
    struct Ended {
        std::size_t transfers = 0, prefetches = 0;
    };
    std::vector<Ended> ended_before;                 ///< by operator
    std::vector<std::vector<std::size_t>> made_by;   ///< tensors, by operator
    std::vector<std::vector<std::size_t>> ended_by;  ///< tensors, by operator
};

/// Returns the order of a plan that was checked, of steps of `step_ticks`.
MoveOrder order_of(const RankProgram& rank, const RankMoves& moves, Tick step_ticks);

}  // namespace gradcoll::mover
