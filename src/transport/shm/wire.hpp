// transport/shm/wire.hpp - records to and from one peer: two rings of fixed places.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/shm/layout.hpp"

namespace gradcoll {

/// One rank's end of the rings between it and one peer. What the peer writes is looked at before it
/// is used: after a word that cannot be right the wire has a fault, and stands still. Thread safe
/// only from outside.
class PairWire {
  public:
    /// `peer_name`: the rank that messages call the peer.
    PairWire(const ShmLayout& layout, int rank, int peer, int peer_name);

    /// Whether the next push() finds room.
    bool has_room();
    /// has_room() must hold.
    void push(const RecordBody& body);
    /// The oldest record that was not taken, copied out. None: nothing there.
    std::optional<RecordBody> take();

    /// The peer may send one more inlined message that it did not announce.
    void count_inlined_match() { bump(mine_.inlined_matched); }
    /// How many inlined messages we sent that no receive has met.
    std::uint64_t inlined_unmatched();
    void count_inlined_push() { ++inlined_pushed_; }

    /// The peer's run that begins in `cell` was read.
    void release(std::uint32_t cell);
    /// Cells whose runs the peer has read since the last call, as bits.
    std::uint64_t newly_released();

    int peer_name() const { return peer_name_; }
    /// Remembers the first: "rank 3: <what>". Code::transport.
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
    std::uint64_t known_taken_ = 0;  ///< by the peer, of what we pushed
    std::uint64_t taken_ = 0;
    std::uint64_t inlined_pushed_ = 0;
    std::uint64_t released_seen_ = 0;
    Status fault_;
};

}  // namespace gradcoll
