// transport/shm/wire.hpp - records to and from one peer: two rings of fixed places.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/shm/layout.hpp"

namespace gradcoll {

/// A PairWire is one rank's end of the rings between it and one peer. What the peer writes is
/// looked at before it is used: after a word that cannot be right the wire has a fault, and stands
/// still. Thread safe only from outside.
class PairWire {
  public:
    /// `peer_name` is the rank that messages call the peer.
    PairWire(const ShmLayout& layout, int rank, int peer, int peer_name);

    /// Returns whether the next push() finds room.
    bool has_room();
    /// Writes a record; has_room() must hold.
    void push(const RecordBody& body);
    /// Takes the oldest record, copied out; nothing if there is none.
    std::optional<RecordBody> take();

    /// Lets the peer send one more inlined message that it did not announce.
    void count_inlined_match() { bump(mine_.inlined_matched); }
    /// Returns how many inlined messages we sent that no receive has met.
    std::uint64_t inlined_unmatched();
    void count_inlined_push() { ++inlined_pushed_; }

    /// Tells the peer that its run that begins in `cell` was read.
    void release(std::uint32_t cell);
    /// Returns the cells whose runs the peer has read since the last call, as bits.
    std::uint64_t newly_released();

    int peer_name() const { return peer_name_; }
    /// Remembers the first fault, as "rank 3: <what>". The code is transport.
    void fail(std::string_view what);
    const Status& fault() const { return fault_; }

  private:
    void bump(SharedCounter& counter) {
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    Record* outbox_;
    Record* inbox_;
    Feedback& mine_;
    Feedback& theirs_;
    std::uint64_t slots_;
    int peer_name_;
    std::uint64_t pushed_ = 0;
    std::uint64_t known_taken_ = 0;  ///< how many of ours the peer has taken, as far as we know
    std::uint64_t taken_ = 0;
    std::uint64_t inlined_pushed_ = 0;
    std::uint64_t released_seen_ = 0;
    Status fault_;
};

}  // namespace gradcoll
