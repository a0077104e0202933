// transport/shm/receive_side.hpp - messages that come to this rank: which receive they meet, and
// how their bytes get there. README.md has the protocol; its numbers stand beside the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/entries.hpp"
#include "transport/finished_messages.hpp"
#include "transport/shm/early_messages.hpp"
#include "transport/shm/peer_memory.hpp"
#include "transport/shm/wire.hpp"

namespace gradcoll {

/// In a ReceiveSide a receive is posted until it meets a message, and met until that message's
/// bytes are here or are known not to come. It is reported only when its sender has been told all
/// that it waits for: the receiver may stop polling then. Thread safe only from outside.
class ReceiveSide {
  public:
    /// What the references mean must outlive it.
    ReceiveSide(const ShmLayout& layout, std::vector<PairWire>& wires, const PeerMemory& memory);

    void reserve(std::size_t receives) { pool_.reserve(receives); }
    /// Keeps messages of the group for their receives from now on; those of others are dropped, for
    /// nobody here will receive them.
    void open(std::uint16_t group);
    /// Closes the group, of which no receives may be under way.
    void close(std::uint16_t group);
    void start(const RecvRequest& request, std::uint16_t group);
    /// Takes a record of the kinds that senders write. What is wrong with it becomes the wire's
    /// fault.
    void on_record(int peer, const RecordBody& body);
    /// Answers senders, and reads from some of them.
    void progress(int peer);
    bool is_busy(int peer) const;
    /// Returns whether so many messages wait for their receives that no more are looked at.
    bool is_full(int peer) const { return early_.is_full(peer); }
    void abandon(const FinishedMessages& lane);
    std::size_t copied_bytes() const { return copied_bytes_; }  ///< bytes copied since it was made

  private:
    struct Incoming {
        std::uint64_t id = 0;
        std::uint32_t next = no_entry;
        RecvRequest request;
        std::uint16_t group = 0;
        MessageNote note;  ///< note of the message that it met
        std::size_t got_bytes = 0;
        bool reads = false;  ///< whether it reads from the sender's memory
        Status outcome;
    };
    /// An Answer is a record that the peer waits for, and the receive that ends once it is written.
    struct Answer {
        RecordKind kind = RecordKind::done;
        std::uint64_t sender_id = 0;
        std::uint64_t receiver_id = 0;
        std::uint32_t ends = no_entry;
    };
    struct Peer {
        EntryList posted;
        EntryList met;
        std::vector<Answer> answers;  ///< answers that found no room in the outbox yet
    };

    Peer& of(int peer) { return peers_[static_cast<std::size_t>(peer)]; }
    PairWire& wire(int peer) { return wires_[static_cast<std::size_t>(peer)]; }

    bool is_sound(int peer, const RecordBody& body);
    void on_message(int peer, const RecordBody& body);
    void drop(int peer, const RecordBody& body);
    bool is_open(std::uint16_t group) const { return group < open_.size() && open_[group]; }
    void on_piece(int peer, const MessageNote& note);
    bool was_pulled(int peer, std::uint32_t index, const MessageNote& note);
    void on_retract(int peer, const MessageNote& note);

    void meet(std::uint32_t index, const RecordBody& body);
    void meet_inlined(std::uint32_t index, const RecordBody& body);
    void meet_announced(std::uint32_t index, const MessageNote& note);
    Status too_long_for(const RecvRequest& request, std::size_t arrived_bytes);
    void take_run(Incoming& receive, const MessageNote& note);
    void release_run(int peer, const MessageNote& note);

    void read_some(int peer);
    bool read_piece(Incoming& receive);
    bool gave_up_since(const Incoming& receive) const;

    void pull(std::uint32_t index);
    void end(std::uint32_t index, bool sender_waits);
    void reply(int peer, const Answer& answer);
    void send_answers(int peer);
    void finish(std::uint32_t index);

    const ShmLayout& layout_;
    std::vector<PairWire>& wires_;
    const PeerMemory& memory_;
    bool may_read_;
    EntryPool<Incoming> pool_;
    EarlyMessages early_;
    std::vector<Peer> peers_;
    std::vector<bool> open_;  ///< one per group, up to the highest that was open
    std::size_t copied_bytes_ = 0;
};

}  // namespace gradcoll
