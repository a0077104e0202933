// nic/transport/nic_receives.hpp - the messages that this rank receives: put together from frames.
#pragma once

#include <optional>
#include <vector>

#include "nic/transport/nic_wires.hpp"
#include "transport/entries.hpp"
#include "transport/finished_messages.hpp"

namespace gradcoll {

/// NicReceives is thread safe only from outside.
class NicReceives {
  public:
    NicReceives(NicWires& wires, std::size_t ranks) : wires_(wires), peers_(ranks) {}

    void reserve(std::size_t messages) { pool_.reserve(messages); }
    void start(const RecvRequest& request);
    /// Returns whether something is expected from the peer.
    bool is_busy(std::uint32_t peer) const {
        return !peers_[peer].posted.empty() || !peers_[peer].streaming.empty();
    }
    /// Returns whether so much of the peer's waits for receives that no more of its frames should
    /// be taken.
    bool is_full(std::uint32_t peer) const { return peers_[peer].early_count >= most_early; }
    /// Takes a frame of a sender: whole, begins, more, retract.
    void on_frame(std::uint32_t peer, const ArrivedFrame& frame);
    void abandon(const FinishedMessages& lane);

  private:
    static constexpr std::size_t most_early = 16384;

    struct Incoming {
        std::uint64_t id = 0;
        std::uint32_t next = no_entry;
        RecvRequest request;
        std::uint64_t sender_id = 0;
        std::size_t size_bytes = 0;  ///< size of the message; known when it has begun
        std::size_t taken_bytes = 0;
    };
    /// Kept is a frame of a message that no receive has met.
    struct Kept {
        NicNote note;
        NicCoding coding = NicCoding::none;
        std::vector<std::byte> bytes;

        explicit Kept(const ArrivedFrame& frame)
            : note(frame.note),
              coding(frame.coding),
              bytes(frame.bytes, frame.bytes + frame.size_bytes) {}
        ArrivedFrame frame() const { return {note, bytes.data(), bytes.size(), coding}; }
    };
    /// Early is such a message with its first frames.
    struct Early {
        std::uint64_t id = 0;
        std::uint32_t next = no_entry;
        NicNote note;
        std::size_t taken_bytes = 0;
        std::vector<Kept> frames;
    };
    struct Peer {
        EntryList posted;  ///< nothing of these has come
        EntryList streaming;
        EntryList early;
        std::size_t early_count = 0;  ///< frames
    };
    Peer& of(std::uint32_t peer) { return peers_[peer]; }
    void keep(std::uint32_t peer, const ArrivedFrame& frame);
    void keep_more(std::uint32_t peer, Early& early, const ArrivedFrame& frame);
    bool fits(std::uint32_t peer, const Incoming& incoming, const ArrivedFrame& frame);
    void put(Incoming& incoming, const ArrivedFrame& frame);
    void add(std::uint32_t index, const ArrivedFrame& frame);
    void on_unasked(std::uint32_t peer, const ArrivedFrame& frame);
    void begin(std::uint32_t index, const ArrivedFrame& frame);
    void on_first(std::uint32_t peer, const ArrivedFrame& frame);
    void on_more(std::uint32_t peer, const ArrivedFrame& frame);
    void on_retract(std::uint32_t peer, const NicNote& note);
    void refuse(std::uint32_t index, const ArrivedFrame& frame, Status why);
    void finish(std::uint32_t index, Status status);

    NicWires& wires_;
    EntryPool<Incoming> pool_;
    EntryPool<Early> early_pool_;
    std::vector<Peer> peers_;  ///< one per rank
};

}  // namespace gradcoll
