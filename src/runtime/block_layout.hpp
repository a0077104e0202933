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

    /// Returns whether no codec of the schedule has a variable rate.
    bool empty() const { return block_count_ == 0; }
    std::size_t block_count() const { return block_count_; }
    /// Returns the number of the first block in a slot that steps of such a codec use; the others
    /// follow.
    std::size_t first_block(Slot slot) const { return places_[slot.index].first_block; }
    /// Returns where a message arrives or is put together, as an offset from the begin of the
    /// scratch. This is in its slot if its blocks lie one behind the other there, because they
    /// arrive so or because one step makes all of them. Otherwise it is behind the schedule's
    /// scratch, since local steps may read the blocks while they are put together.
    std::uint64_t message_offset(Slot slot) const { return places_[slot.index].message_offset; }
    /// Blocks of messages that leave are counted separately for each message. These functions
    /// return how many there are, and the number of the first block of a message.
    std::size_t sent_count() const { return sent_count_; }
    std::size_t first_sent(Slot slot) const { return places_[slot.index].first_sent; }
    bool is_in_its_slot(Slot slot) const { return !places_[slot.index].is_put_together; }
    /// Returns the size of the schedule's scratch and of the room for messages behind it.
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

    std::vector<Place> places_;  ///< one for each slot
    std::size_t block_count_ = 0;
    std::size_t sent_count_ = 0;
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
