// transport/channel.hpp - moving bytes between ranks; knows no schedules, codecs or reductions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// One message that finished.
struct Completion {
    std::uint32_t cookie = 0;       ///< what start_send/start_recv was given
    std::size_t received_bytes = 0; ///< for receives; may be less than asked for: the caller checks
    Status status;                  ///< transport error, if any (a longer message than asked for is one)
};

/// The messages of one running operation. Used by one thread at a time. No allocation after construction as long as no
/// more than `capacity` messages are in flight.
class Lane {
  public:
    virtual ~Lane() = default;
    /// Buffers must stay valid and (for sends) unchanged until the message completes. Messages between one pair with
    /// one tag arrive in the order of their starts.
    virtual Status start_send(int peer, int tag, const void* data, std::size_t size_bytes, std::uint32_t cookie) = 0;
    virtual Status start_recv(int peer, int tag, void* data, std::size_t size_bytes, std::uint32_t cookie) = 0;
    /// Makes progress; appends what completed since the last call to the front of `out` and returns how many. Never blocks.
    virtual Result<std::size_t> poll(std::span<Completion> out) = 0;
    virtual std::size_t in_flight() const = 0;
    /// Cancels what can be cancelled and waits no longer than needed; after it no buffer is touched any more.
    virtual void abandon() = 0;
};

/// A way to reach all ranks of one communicator. Lanes of different operations may be used by different threads at the
/// same time if the MPI library runs with MPI_THREAD_MULTIPLE (for the MPI channel).
class Channel {
  public:
    virtual ~Channel() = default;
    virtual int rank() const = 0;
    virtual int rank_count() const = 0;
    /// Tags from 0 to this are usable.
    virtual int tag_limit() const = 0;
    virtual std::unique_ptr<Lane> open_lane(std::size_t capacity) = 0;
};

}  // namespace gradcoll
