// mover/program/move_plan.hpp - which tensors leave the device and come back, and when: what the
// planner makes, the checker proves and a file holds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "mover/program/program.hpp"

namespace gradcoll::mover {

/// A time span, its end not in it.
struct Span {
    Tick start = 0;
    Tick end = 0;
};

/// A tensor is away between two uses that follow each other. TRANSFER takes it to the host after
/// the first, PREFETCH brings it back before the second. Or it lives in the host: then it is away
/// from its last use in one step to its first in the next, and the PREFETCH comes first.
struct Move {
    std::int32_t tensor = 0;
    std::int32_t after =
        -1;  ///< the operator that used it last; -1: it is there as the step begins
    std::int32_t prefetch_at =
        0;                       ///< the PREFETCH is let go when the operator before this one ended
    std::int32_t needed_by = 0;  ///< the operator that uses it next
    Span transfer{};             ///< device to host
    Span prefetch{};             ///< host to device
    std::int64_t host_offset =
        0;  ///< in the rank's pinned pool, from transfer.start to prefetch.end

    /// Has its place in the pool during the whole step, and from step to step.
    bool lives_in_host() const { return needed_by <= after; }
};

struct RankMoves {
    std::vector<Tick> starts;     ///< of the operators, with what they wait for moves
    std::vector<Move> moves;      ///< by the start of their transfers
    std::int64_t pool_bytes = 0;  ///< of pinned host memory, for each device of the rank
};

struct MovePlan {
    std::vector<RankMoves> ranks;
    Tick step_ticks = 0;  ///< until the last operator and the last move of all ranks have ended
};

/// What moves go over and into, for each rank: the same figures for planner and checker.
struct RankRoom {
    std::int64_t device_bytes = 0;  ///< most that a device of this rank may hold
    Lane lane;                      ///< its share of its link; one for each direction
};

/// Devices of some ranks use a thing together.
struct Sharing {
    std::int64_t most = 0;  ///< bytes a second, or bytes
    /// Of rates: both directions count together. Else each has `most` for itself.
    bool directions_together = false;
    /// Devices of each rank that share it: rank, count.
    std::vector<std::pair<std::int32_t, std::int64_t>> devices{};
};

/// Bytes of the pools of all devices of a host.
inline std::int64_t pinned_in(const Sharing& host, const MovePlan& plan) {
    std::int64_t bytes = 0;
    for (const auto& [rank, devices] : host.devices)
        bytes += devices * plan.ranks[static_cast<std::size_t>(rank)].pool_bytes;
    return bytes;
}

struct Rooms {
    std::vector<RankRoom> ranks;
    std::vector<Sharing> rates;  ///< links, and the memories of hosts if they are a limit
    std::vector<Sharing> hosts;  ///< pinned memory
};

}  // namespace gradcoll::mover
