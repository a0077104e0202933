// nic/transport/nic_sends.hpp - the messages that this rank sends: cut into frames.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nic/transport/nic_wires.hpp"
#include "transport/entries.hpp"
#include "transport/finished_messages.hpp"

namespace gradcoll {

/// A RunReader goes through the elements of a message, run by run.
class RunReader {
  public:
    /// Calls visit(run, bytes before, bytes) for each part of the next `count` bytes.
    template <class Visit>
    void read(std::span<const ElementRun> runs, std::size_t count, Visit visit) {
        while (count > 0) {
            const ElementRun& run = runs[run_];
            const std::size_t part = std::min(count, run.size_bytes - done_bytes_);
            visit(run, done_bytes_, part);
            count -= part;
            done_bytes_ += part;
            if (done_bytes_ < run.size_bytes) continue;
            ++run_;
            done_bytes_ = 0;
        }
    }

  private:
    std::size_t run_ = 0;         ///< the run that the next bytes are of
    std::size_t done_bytes_ = 0;  ///< how much of it has been read
};

/// NicSends sends a message of a few frames at once. It sends the first bytes of a longer one, and
/// the rest when the receiver asks. A message has ended when all its frames are delivered: then it
/// arrives, whatever becomes of the agents and of this rank. Thread safe only from outside.
class NicSends {
  public:
    NicSends(NicWires& wires, std::size_t ranks) : wires_(wires), peers_(ranks) {}

    void reserve(std::size_t messages) { pool_.reserve(messages); }
    void start(const SendRequest& request);
    void progress(std::uint32_t peer);
    /// Returns whether something of this rank is on its way to the peer.
    bool is_busy(std::uint32_t peer) const;
    // These take the peer's words.
    void on_pull(std::uint32_t peer, const NicNote& note);
    void on_done(std::uint32_t peer, const NicNote& note);
    void abandon(const FinishedMessages& lane);

  private:
    struct Outgoing {
        std::uint64_t id = 0;
        std::uint32_t next = no_entry;
        SendRequest request;
        std::size_t frame_bytes = 0;  ///< most bytes of the message in one frame
        RunReader sent;
        std::size_t sent_bytes = 0;
        std::size_t unasked_bytes = 0;  ///< bytes that leave before the receiver asks
        RunReader echoed;
        std::uint64_t receiver_id = 0;
        std::uint64_t last_frame = 0;
    };
    struct Peer {
        EntryList waiting;    ///< nothing has left
        EntryList unasked;    ///< some frames have left, and others may without being asked for
        EntryList announced;  ///< no more may leave, before it is asked for
        EntryList streaming;
        EntryList leaving;  ///< all frames are posted, in the order of their last ones
    };
    Peer& of(std::uint32_t peer) { return peers_[peer]; }
    void send_first(std::uint32_t peer, std::uint32_t index);
    bool send_more(std::uint32_t peer, EntryList& from);
    void line_up(std::uint32_t peer, std::uint32_t index);
    void post_bytes(Outgoing& message, NicNote note);
    OutgoingFrame coded_frame(Outgoing& message, const NicNote& note, std::size_t count);
    EntryList* take_answered(std::uint32_t peer, const NicNote& note, std::uint32_t& index);
    void take_echoes(std::uint32_t peer);
    Status put_echo(Outgoing& message, std::span<const std::byte> frame) const;
    void finish_delivered(std::uint32_t peer);
    void finish(std::uint32_t index);

    NicWires& wires_;
    EntryPool<Outgoing> pool_;
    std::vector<Peer> peers_;  ///< one per rank
};

}  // namespace gradcoll
