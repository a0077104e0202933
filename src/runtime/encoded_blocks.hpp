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
    std::uint32_t size_bytes = 0;
    bool is_plain = false;  ///< its elements, not encoded
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
    EncodedBlocks(std::size_t blocks, std::size_t slots) : blocks_(blocks), messages_(slots) {}
    void begin(const BlockLayout& layout, std::size_t elem_bytes, std::byte* scratch);

    /// Those of a local step's slot, or of a message's. Valid until the chunk ends.
    std::span<EncodedBlock> of(const Step& step, Slot slot);
    std::byte* bytes_of(const EncodedBlock& block) const { return scratch_ + block.offset_bytes; }
    /// `bytes`: written in scratch, to the room of the block or before it.
    EncodedBlock block_at(const std::byte* bytes, std::size_t size_bytes, bool is_plain) const {
        return {static_cast<std::uint64_t>(bytes - scratch_),
                static_cast<std::uint32_t>(size_bytes), is_plain};
    }
    /// The most that `count_elems` elements of the step take.
    std::size_t bound_of(const Step& step, std::size_t count_elems) const;

    /// Puts a message together behind room for its header: the lengths of the blocks, then the
    /// blocks. `is_void`: the sender has failed, so there are no blocks. Once for all sends of a
    /// slot. Returns whether all blocks are plain: then there are no lengths.
    bool join(const Step& send, bool is_void);
    /// The message that has been put together.
    MessageBytes message(Slot slot) const { return messages_[slot.index]; }
    /// Finds the blocks of a message of `received_bytes`, of which the header has been checked.
    /// `is_plain`: that says that all are. Errors: corrupt if their lengths are not those of such
    /// blocks, or not of that message.
    Status find(const Step& recv, std::size_t received_bytes, bool is_plain);

  private:
    void join_void(const Step& send);
    void move_together(std::span<EncodedBlock> blocks, std::byte* to) const;
    Result<std::size_t> read_lengths(const Step& recv, std::size_t received_bytes);
    void set_plain(std::span<EncodedBlock> blocks, const Step& recv, std::size_t first) const;
    Status place(const Step& recv, std::size_t at, std::size_t end);
    std::size_t elems_of_block(const Step& step, std::size_t block) const;

    const BlockLayout* layout_ = nullptr;
    std::size_t elem_bytes_ = 1;
    std::byte* scratch_ = nullptr;
    std::vector<EncodedBlock> blocks_;    ///< by number
    std::vector<MessageBytes> messages_;  ///< by slot, of messages that leave
};

}  // namespace gradcoll
