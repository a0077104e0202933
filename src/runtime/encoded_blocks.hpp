// runtime/encoded_blocks.hpp - the encoded blocks of one chunk: where each lies just now, and how
// long it is. For codecs of variable rate; others have all their bytes where the plan says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/block_layout.hpp"

namespace gradcoll {

struct EncodedBlock {
    std::uint64_t offset_bytes = 0;  ///< from the begin of the scratch
    std::size_t size_bytes = 0;
};

/// What is moved for a send or a receive.
struct MessageBytes {
    std::byte* data = nullptr;
    std::size_t size_bytes = 0;
};

/// Used for one chunk after another; allocates only when made. Steps and messages that use
/// different slots may be at work at the same time.
class EncodedBlocks {
  public:
    /// Room for so many.
    EncodedBlocks(std::size_t blocks, std::size_t slots) : blocks_(blocks), message_bytes_(slots) {}
    void begin(const BlockLayout& layout, std::size_t elem_bytes, std::byte* scratch);

    /// Those of a local step's slot, or of a message's. Valid until the chunk ends.
    std::span<EncodedBlock> of(const Step& step, Slot slot);
    std::byte* bytes_of(const EncodedBlock& block) const { return scratch_ + block.offset_bytes; }
    /// `bytes`: written in scratch, to the room of the block or before it.
    EncodedBlock block_at(const std::byte* bytes, std::size_t size_bytes) const {
        return {static_cast<std::uint64_t>(bytes - scratch_), size_bytes};
    }
    /// The most that `count_elems` elements of the step take.
    std::size_t bound_of(const Step& step, std::size_t count_elems) const;

    /// Puts a message together behind room for its header: the lengths of the blocks, then the
    /// blocks. `is_void`: the sender has failed, so there are no blocks. Once for all sends of a
    /// slot.
    void join(const Step& send, bool is_void);
    /// The message that has been put together, or has arrived.
    MessageBytes message(Slot slot) const {
        return {scratch_ + layout_->message_offset(slot), message_bytes_[slot.index]};
    }
    /// Finds the blocks of a message of `received_bytes`, of which the header has been checked.
    /// Errors: corrupt if their lengths are not those of such blocks, or not of that message.
    Status find(const Step& recv, std::size_t received_bytes);

  private:
    const BlockLayout* layout_ = nullptr;
    std::size_t elem_bytes_ = 1;
    std::byte* scratch_ = nullptr;
    std::vector<EncodedBlock> blocks_;        ///< by number
    std::vector<std::size_t> message_bytes_;  ///< by slot, of messages that are there
};

}  // namespace gradcoll
