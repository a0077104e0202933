// transport/channel.hpp - moving bytes between ranks; knows no schedules, codecs or reductions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

struct Codec;
class VectorSums;

/// ElementRun is a run of plain elements, one behind the other.
struct ElementRun {
    const std::byte* data = nullptr;
    std::size_t size_bytes = 0;
    /// What the receiver gets of the run is also written here before the message completes; this
    /// may be `data`. Null: nowhere. All runs of a message have one, or none has.
    std::byte* decoded = nullptr;
    bool past_caches = false;  ///< `decoded` is written past the caches
};

/// What comes for a vector of this size or more is written past the caches: it would not stay in a
/// core's own cache until the call's end anyway.
inline constexpr std::size_t least_streamed_bytes = std::size_t{2} << 20;

/// CodedRoom is where the elements of a message that was encoded on its way come to.
struct CodedRoom {
    std::byte* data = nullptr;
    std::size_t size_bytes = 0;
    /// What comes is added to these elements, which may be `data`; what is sent in its place is
    /// not. Null: nothing is added.
    const std::byte* addend = nullptr;
    const Codec* exact = nullptr;  ///< adds (Codec::decode_sum), where there is an addend
    bool past_caches = false;      ///< elements are written past the caches, where there is none
};

/// Completion is one message that finished.
struct Completion {
    std::uint32_t cookie = 0;  ///< what start_send/start_recv was given
    std::size_t received_bytes =
        0;  ///< for receives; may be less than asked for: the caller checks
    /// The error is transport, or corrupt if a longer message than asked for has come: it is gone,
    /// the buffer may have been written, and the lane goes on.
    Status status;
    /// For coded sends this counts the bytes that the way has made of them, or of others of the
    /// same pair that are under way; each counts once.
    std::size_t coded_bytes = 0;
    /// What has come is not what was sent. Only a checked lane (checked_lane.hpp) finds that out.
    bool is_damaged = false;
};

/// CutEnd says how a receiver knows the last piece of a message that goes in pieces.
enum class CutEnd : std::uint8_t {
    by_length,      ///< every message is as long as its receive asks for
    by_short_piece  ///< messages may be shorter: their last piece is shorter than the others
};

/// A Lane has the messages of one running operation. It is used by one thread at a time, and
/// allocates nothing after construction as long as no more than `capacity` messages are in flight;
/// starting one more is an error (internal).
class Lane {
  public:
    virtual ~Lane() = default;
    /// Buffers must stay valid and (for sends) unchanged until the message completes. Messages
    /// between one pair with one tag arrive in the order of their starts. Errors: invalid_argument
    /// for a peer or tag out of range; transport.
    virtual Status start_send(int peer, int tag, const void* data, std::size_t size_bytes,
                              std::uint32_t cookie) = 0;
    /// Sends these bytes alone, which are fewer, instead of a message of `whole_bytes`, which the
    /// peer asks for. Otherwise it does what start_send() does.
    virtual Status start_short_send(int peer, int tag, const void* data, std::size_t size_bytes,
                                    std::size_t whole_bytes, std::uint32_t cookie);
    virtual Status start_recv(int peer, int tag, void* data, std::size_t size_bytes,
                              std::uint32_t cookie) = 0;
    /// Sends plain elements to a peer whose way encodes by itself (Capabilities). All runs but the
    /// last have whole blocks of the codec. The receiver gets, with start_coded_recv() for the same
    /// codec and size, what decoding their encoding gives; or the bytes of a shorter message that
    /// was sent in its place as it is. Runs and codec stay as the buffers do. Errors: those of
    /// start_send(); internal if the way does not encode.
    virtual Status start_coded_send(int peer, int tag, std::span<const ElementRun> runs,
                                    const Codec& codec, std::uint32_t cookie);
    virtual Status start_coded_recv(int peer, int tag, const CodedRoom& room, const Codec& codec,
                                    std::uint32_t cookie);
    /// Lets messages to and from these ranks (ascending) go in short pieces; the other ends say the
    /// same, and from then on no two messages of one pair and tag are in flight at once. It is
    /// called only while nothing is in flight. It is a hint: a transport that gains nothing from it
    /// does nothing.
    virtual void cut_messages(std::vector<int> peers, CutEnd end);
    /// Makes progress; writes what completed since the last call to the front of `out` and returns
    /// how many; what finds no room is kept for the next call. Never blocks.
    virtual Result<std::size_t> poll(std::span<Completion> out) = 0;
    /// Sleeps, after a poll that had nothing, until there may be something, `longest` at most.
    /// Returns false at once if it cannot, or has nothing to wait for. What else waits for this
    /// thread stands still meanwhile, the MPI library's messages included.
    virtual bool rest(std::chrono::microseconds longest);
    virtual std::size_t in_flight() const = 0;
    /// Drops every message in flight without completions. Receives are cancelled: no buffer of
    /// theirs is written any more. Sends that their peer does not take are cancelled where the
    /// transport can do so (see its header).
    virtual void abandon() = 0;
};

/// DeviceReach says whether messages may begin and end in the memory of a device.
enum class DeviceReach : std::uint8_t {
    none,
    as_mpi,  ///< where the MPI library takes such memory
    full
};

/// Capabilities says what a channel does for a peer besides carrying bytes between the memories of
/// hosts.
struct Capabilities {
    DeviceReach device_memory = DeviceReach::none;
    /// Polls with messages under way also let the MPI library's own messages go on.
    bool drives_mpi = false;
    /// It takes plain elements and encodes them on its way (Lane::start_coded_send).
    bool encodes_by_itself = false;

    bool operator==(const Capabilities&) const = default;
};

/// A Channel reaches all ranks of one communicator. Lanes of different operations may be used by
/// different threads at the same time if the MPI library runs with MPI_THREAD_MULTIPLE (for the MPI
/// channel).
class Channel {
  public:
    virtual ~Channel() = default;
    /// Returns what adds vectors; null if it moves bytes and adds nothing. It is the same on all
    /// ranks.
    virtual VectorSums* vector_sums() { return nullptr; }
    virtual int rank() const = 0;
    virtual int rank_count() const = 0;
    /// Tags from 0 to this are usable.
    virtual int tag_limit() const = 0;
    /// Returns what the way between this rank and the peer, which must be in range, does; both ends
    /// say the same.
    virtual Capabilities capabilities(int peer) const;
    virtual std::unique_ptr<Lane> open_lane(std::size_t capacity) = 0;
    /// Operations whose messages have fewer bytes of elements are better off with a lane of the
    /// second kind. 0 means that there is one kind. It is the same on all ranks.
    virtual std::size_t short_bytes() const { return 0; }
    /// Says why messages do not go the way of long ones, once a job.
    virtual void tell_unused(const std::string&) const {}
    /// Opens a lane of the second kind, which encodes nothing on its way. Both ends of a message
    /// use the same kind.
    virtual std::unique_ptr<Lane> open_short_lane(std::size_t capacity) {
        return open_lane(capacity);
    }
};

/// Returns ok if `peer` and `tag` are usable on the channel. Errors: invalid_argument naming the
/// value and the range.
Status check_envelope(const Channel& channel, int peer, int tag);

/// Returns what a receive reports when more arrived than was asked for: corrupt. `arrived_bytes` is
/// 0 if the transport cannot say.
Status too_long(int peer, int tag, std::size_t asked_bytes, std::size_t arrived_bytes);

/// Returns what starting a message reports when `capacity` messages are in flight already.
Status lane_full(std::size_t capacity);

}  // namespace gradcoll
