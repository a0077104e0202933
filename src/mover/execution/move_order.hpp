// mover/execution/move_order.hpp - what a plan says without its clock: in which order things take
// memory, move, and follow each other.
#pragma once

#include <vector>

#include "mover/program/move_plan.hpp"

namespace gradcoll::mover {

inline std::size_t index_of(std::int32_t number) {
    return static_cast<std::size_t>(number);
}

/// An operator takes memory for what it makes and its workspace, a move for its PREFETCH.
struct Claim {
    bool is_move = false;
    std::size_t index = 0;
    /// Of a move: with this operator the last one that has ended as the plan's PREFETCH starts, its
    /// claim may be made. -1: as the step begins.
    std::int32_t after = -1;
    std::int64_t bytes = 0;
};

/// Everything waits only for what the plan has earlier, in the plan's order. So whatever it is that
/// takes longer than planned, nothing waits in a circle.
struct MoveOrder {
    std::vector<Claim> claims;           ///< by the plan's time
    std::vector<std::size_t> transfers;  ///< moves, by the start of their TRANSFERs
    /// Of each move: those that must have left its place in the pool.
    std::vector<std::vector<std::size_t>> place_after;
    /// Of each move: the operator that has ended before its TRANSFER: the one that used the tensor
    /// last, or a collective that held the lane after it. -1: the begin of the step.
    std::vector<std::int32_t> sent_after;
    std::vector<std::vector<std::size_t>> needed_by;  ///< moves, by operator
    /// Moves that have left before the operator: it works in the host.
    std::vector<std::vector<std::size_t>> gone_by;
    /// Of a collective that holds the lane: so many TRANSFERs and PREFETCHs have ended before it.
    struct Ended {
        std::size_t transfers = 0, prefetches = 0;
    };
    std::vector<Ended> ended_before;                 ///< by operator
    std::vector<std::vector<std::size_t>> made_by;   ///< tensors, by operator
    std::vector<std::vector<std::size_t>> ended_by;  ///< tensors, by operator
};

/// Of a plan that was checked.
MoveOrder order_of(const RankProgram& rank, const RankMoves& moves);

}  // namespace gradcoll::mover
