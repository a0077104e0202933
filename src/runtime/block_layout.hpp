// runtime/block_layout.hpp - which encoded blocks a schedule has, where their lengths are known
// only when they are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// A codec of variable rate is given one block (codec_block_elems()) at a time: so an encoding can
/// be cut between blocks, although only the blocks themselves say how long they are. Every block
/// has room for its bound in scratch, and a number: ascending with its room. Immutable.
class BlockLayout {
  public:
    /// Errors: internal if a step's blocks have no room of their own, or a message has other blocks
    /// than the steps that make or use it.
    static Result<BlockLayout> make(const Schedule& schedule, std::size_t elem_bytes);

    /// No codec of the schedule has a variable rate.
    bool empty() const { return block_count_ == 0; }
    std::size_t block_count() const { return block_count_; }
    /// Of a slot of such a codec's steps: the number of its first block; the others follow.
    std::size_t first_block(Slot slot) const { return places_[slot.index].first_block; }
    /// Of a message: where it arrives or is put together, from the begin of the scratch. That is
    /// its slot if its blocks are one behind the other there: because they arrive so, or because
    /// one step makes all of them. Else it is behind the schedule's scratch, since local steps may
    /// read the blocks while they are put together.
    std::uint64_t message_offset(Slot slot) const { return places_[slot.index].message_offset; }
    /// Blocks of messages that leave, each message's for itself: how many, and the number of the
    /// first one of a message.
    std::size_t sent_count() const { return sent_count_; }
    std::size_t first_sent(Slot slot) const { return places_[slot.index].first_sent; }
    bool is_in_its_slot(Slot slot) const { return !places_[slot.index].is_put_together; }
    /// Of the schedule, and the room for messages behind it.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  private:
    struct Place {
        std::size_t first_block = 0;
        std::uint64_t message_offset = 0;
        std::size_t first_sent = 0;
        bool is_sent = false;
        bool is_put_together = false;
    };
    class Maker;

    std::vector<Place> places_;  ///< by slot
    std::size_t block_count_ = 0;
    std::size_t sent_count_ = 0;
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
