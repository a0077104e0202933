// transport/shm/send_side.hpp - messages that leave this rank, from their start to the copy of
// their last byte. README.md has the protocol; its numbers stand beside the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/entries.hpp"
#include "transport/finished_messages.hpp"
#include "transport/shm/cells.hpp"
#include "transport/shm/peer_memory.hpp"
#include "transport/shm/wire.hpp"

namespace gradcoll {

/// A SendSide sends small messages in their record and middle ones in cells: both end at once.
/// Larger ones are announced, and leave when their peer asks for them. Thread safe only from
/// outside.
class SendSide {
  public:
    /// What the references mean must outlive it.
    SendSide(const ShmLayout& layout, int rank, std::vector<PairWire>& wires,
             const PeerMemory& memory);

    void reserve(std::size_t messages) { pool_.reserve(messages); }
    void start(const SendRequest& request, std::uint16_t group);
    /// Sends what has found room.
    void progress(int peer);
    void on_pull(int peer, const MessageNote& note);
    void on_done(int peer, const MessageNote& note);
    /// Returns whether the peer may have read cells, or waits for something.
    bool is_busy(int peer) const;
    void abandon(const FinishedMessages& lane);

  private:
    struct Outgoing {
        std::uint64_t id = 0;
        std::uint32_t next = no_entry;
        SendRequest request;
        std::uint16_t group = 0;
        std::size_t sent_bytes = 0;  ///< bytes that were copied into cells
        std::uint64_t receiver_id = 0;
        bool offered = false;  ///< the peer may read it where it is
    };
    struct Peer {
        EntryList waiting;                    ///< messages that are not announced yet
        EntryList announced;                  ///< messages that wait until the peer asks
        EntryList streaming;                  ///< messages that were asked for
        std::vector<std::uint64_t> retracts;  ///< ids of announced messages that were given up
        int runs_held = 0;
        bool reads = true;  ///< the peer has never asked for what it may have read
    };

    Peer& of(int peer) { return peers_[static_cast<std::size_t>(peer)]; }
    PairWire& wire(int peer) { return wires_[static_cast<std::size_t>(peer)]; }

    void send_first(std::uint32_t index);
    void send_inlined(std::uint32_t index);
    void announce(std::uint32_t index);
    void send_along(MessageNote& note, Outgoing& message);
    bool send_piece(std::uint32_t index);
    void fill(MessageNote& note, Outgoing& message, const CellPool::Run& run);
    int cells_for(std::size_t bytes) const;
    void free_cells(int peer);

    EntryList* take_answered(int peer, const MessageNote& note, std::uint32_t& index);
    void send_retracts(int peer);
    void finish(std::uint32_t index);

    const ShmLayout& layout_;
    int rank_;
    std::vector<PairWire>& wires_;
    const PeerMemory& memory_;
    CellPool cells_;
    EntryPool<Outgoing> pool_;
    std::vector<Peer> peers_;
};

}  // namespace gradcoll
