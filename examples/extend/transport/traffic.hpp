// traffic.hpp - all messages of a rank that are on their way through pipes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "pipes.hpp"
#include "transport/channel.hpp"

namespace gradcoll::fifo {

/// Finished is what one lane waits for; the lock of the Traffic guards it.
struct Finished {
    std::vector<Completion> done;
    std::size_t started = 0;  ///< operations that were started and not taken by poll()
};

/// A Header goes in front of every message.
struct Header {
    static constexpr std::uint32_t right_mark = 0x6f666966;
    std::uint32_t mark = right_mark;
    std::int32_t tag = 0;
    std::uint64_t size_bytes = 0;
};
static_assert(sizeof(Header) == 16);

/// Traffic sends messages of one pair through one pipe, one after the other; the receiver sorts
/// them by tags. A message that arrives before its receive is kept (which allocates). Thread safe:
/// one lock for all.
class Traffic {
  public:
    struct Send {
        Finished* lane = nullptr;  ///< null: abandoned, but its first bytes have left
        Header header;
        const std::byte* data = nullptr;
        std::size_t written = 0;  ///< bytes of header and data
        std::uint32_t cookie = 0;
        std::vector<std::byte> kept;  ///< the data, once the message is abandoned
    };
    struct Receive {
        Finished* lane = nullptr;
        std::byte* data = nullptr;
        std::size_t size_bytes = 0;
        std::uint32_t cookie = 0;
        int peer = 0;
        std::int32_t tag = 0;
    };

    /// `names` holds the ranks that messages use.
    Traffic(Pipes pipes, std::vector<int> names);

    void lane_opened(std::size_t capacity);
    void lane_closed(Finished& lane, std::size_t capacity);
    Status start_send(int peer, Send send);
    Status start_recv(const Receive& receive);
    Result<std::size_t> poll(Finished& lane, std::span<Completion> out);
    void abandon(Finished& lane);
    std::size_t in_flight(const Finished& lane);

  private:
    /// Incoming is the message that comes from one peer.
    struct Incoming {
        Header header;
        std::size_t header_read = 0;
        std::size_t data_read = 0;
        std::optional<Receive> receive;  ///< for the message that is being read, if it fits
        bool dropped = false;            ///< nobody wants the message
        std::vector<std::byte> early;    ///< its bytes, if there is no receive yet

        bool has_header() const { return header_read == sizeof header; }
    };
    struct Early {
        int peer = 0;
        std::int32_t tag = 0;
        std::vector<std::byte> bytes;
    };

    Status move_all();
    Status write_to(int peer);
    Status read_from(int peer);
    Result<std::size_t> read_some(int peer, void* to, std::size_t size_bytes);
    Result<bool> read_header(int peer);
    Result<bool> read_data(int peer);
    void begin_message(int peer);
    void end_message(int peer);
    std::optional<Receive> take_receive(int peer, std::int32_t tag);
    void deliver(const Receive& receive, const std::vector<std::byte>& bytes);
    Status too_long_for(const Receive& receive, std::size_t arrived_bytes) const;
    Status failed(const char* what, int peer) const;

    std::mutex mutex_;
    Pipes pipes_;
    std::vector<int> names_;
    std::vector<std::vector<Send>> sends_;  ///< by peer, in the order of their starts
    std::vector<Incoming> incoming_;        ///< by peer
    std::vector<Receive> receives_;         ///< in the order of their starts
    std::vector<Early> early_;              ///< in the order of their arrival
    std::vector<std::byte> scratch_;
    std::size_t capacity_ = 0;  ///< sum over all lanes
    Status broken_;             ///< an error that stays for all lanes
};

}  // namespace gradcoll::fifo
