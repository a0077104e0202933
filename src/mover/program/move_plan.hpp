// mover/program/move_plan.hpp - which tensors leave the device and come back, and when: the planner
// makes it, the checker proves it, a file stores it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// A Span is a span of time; its end is not part of it.
struct Span {
    Tick start = 0;
    Tick end = 0;
};

/// A Move takes a tensor away between two successive uses. TRANSFER takes it to the host after the
/// first, PREFETCH brings it back before the second. If the tensor lives in the host, it is away
/// from its last use in one step to its first in the next: its TRANSFER may end while the next step
/// runs, and its PREFETCH may start while the step before does. All times count from the begin of
/// the step in which the move starts.
struct Move {
    std::int32_t tensor = 0;
    std::int32_t after =
        -1;  ///< the operator that used it last; -1: it is there when the step begins
    std::int32_t prefetch_at =
        0;  ///< the PREFETCH may start when the operator before this one has ended; see is_ahead()
    std::int32_t needed_by = 0;  ///< the operator that uses it next
    Span transfer{};             ///< device to host
    Span prefetch{};             ///< host to device
    std::int64_t host_offset =
        0;  ///< in the rank's pinned pool; used from transfer.start to prefetch.end

    /// Returns whether the tensor lives in the host: it keeps its place in the pool during the
    /// whole step, and from step to step.
    bool lives_in_host() const { return needed_by <= after; }
    /// Returns whether the PREFETCH starts in the step before the one that needs the tensor.
    bool is_ahead() const { return lives_in_host() && prefetch_at > after; }
};

struct RankMoves {
    std::vector<Tick> starts;     ///< starts of the operators, including their waits for moves
    std::vector<Move> moves;      ///< ordered by the start of their transfers
    std::int64_t pool_bytes = 0;  ///< pinned host memory for each device of the rank
};

/// A MovePlan is one step of many that are alike: the next one begins when `step_ticks` are over,
/// and does the same at the same times. All operators of a step have ended by then; moves of
/// tensors that live in the host may go on.
struct MovePlan {
    std::vector<RankMoves> ranks;
    Tick step_ticks = 0;
};

/// Returns the time that a PREFETCH has until the operator that needs the tensor starts.
inline Tick slack_of(const RankMoves& rank, const Move& move, Tick step_ticks) {
    return rank.starts[static_cast<std::size_t>(move.needed_by)] +
           (move.is_ahead() ? step_ticks : 0) - move.prefetch.end;
}

/// Returns the time from the end of a TRANSFER to the start of the PREFETCH that follows it.
inline Tick away_of(const Move& move, Tick step_ticks) {
    const bool is_in_next_step = move.lives_in_host() && !move.is_ahead();
    return move.prefetch.start + (is_in_next_step ? step_ticks : 0) - move.transfer.end;
}

/// A RankRoom holds the limits of a rank's moves; planner and checker use the same figures.
struct RankRoom {
    std::int64_t device_bytes = 0;   ///< the most that a device of this rank may hold
    Lane lane;                       ///< the device's share of its link; each direction has one
    bool one_way_at_a_time = false;  ///< whether both directions share that lane
};

/// A Sharing is something that devices of some ranks share: a link, or a host's memory.
struct Sharing {
    std::int64_t most = 0;  ///< bytes a second, or bytes
    /// Says, for a rate, whether both directions count together. Otherwise each has `most` for
    /// itself.
    bool directions_together = false;
    /// Each pair is a rank and the number of its devices that share it.
    std::vector<std::pair<std::int32_t, std::int64_t>> devices{};
};

/// Returns the bytes of the pools of all devices of a host.
inline std::int64_t pinned_in(const Sharing& host, const MovePlan& plan) {
    std::int64_t bytes = 0;
    for (const auto& [rank, devices] : host.devices)
        bytes += devices * plan.ranks[static_cast<std::size_t>(rank)].pool_bytes;
    return bytes;
}

struct Rooms {
    std::vector<RankRoom> ranks;
    std::vector<Sharing> rates;  ///< links, and the memories of hosts if they are a limit
    std::vector<Sharing> hosts;  ///< the pinned memory of each host
    Tick move_ticks = 0;         ///< by which each move of a rank makes the step longer
};

}  // namespace gradcoll::mover
