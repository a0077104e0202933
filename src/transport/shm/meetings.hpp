// transport/shm/meetings.hpp - the memory in which ranks of one host exchange messages, which
// communicators of the same ranks share.
#pragma once

#include <cstddef>
#include <memory>

#include "base/mpi/mpi.hpp"
#include "base/status.hpp"
#include "transport/channel.hpp"

namespace gradcoll {

/// MeetingChoice is the same on all ranks.
struct MeetingChoice {
    std::size_t bytes_a_rank = 0;      ///< ShmLayout::bytes_a_rank_for()
    std::size_t least_read_bytes = 0;  ///< receivers read longer messages from their senders'
                                       ///< memory where the system permits it; 0: they never do

    bool operator==(const MeetingChoice&) const = default;
};

/// Makes a channel between the ranks of the host, which have the same numbers there. Collective.
/// The first `own_meetings` communicators of the same processes, in the same order, under the same
/// numbers, with the same choice, get memory of their own: threads of different ones then never
/// wait for each other. Any more share it with the one that has the fewest. Memory lives as long as
/// a channel in it. Thread safe. Errors, on all ranks of the host: those of SharedSegment.
Result<std::unique_ptr<Channel>> meet(const HostComm& host, const MeetingChoice& choice);
inline constexpr std::size_t own_meetings = 8;

}  // namespace gradcoll
