// runtime/encoded_blocks.hpp - the encoded blocks of one chunk: where each lies just now, and how
// long it is. For codecs of variable rate; others have all their bytes where the plan says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compress/coded_block.hpp"
#include "runtime/block_layout.hpp"

namespace gradcoll {

/// MessageBytes is the memory that a send or a receive moves.
struct MessageBytes {
    std::byte* data = nullptr;
    std::size_t size_bytes = 0;
};

/// EncodedBlocks is used for one chunk after another and allocates only when it is made. Steps and
/// messages that use different slots may be at work at the same time. Offsets are from the begin of
/// the chunk's scratch. If the data are on a device, `scratch` is its mirror, where messages are;
/// the device has the blocks at the same offsets of its own memory, and shares the table of them
/// with the host.
class EncodedBlocks {
  public:
    /// Makes room for that many.
    EncodedBlocks(std::size_t blocks, std::size_t slots) : own_(blocks), messages_(slots) {}
    /// Begins a chunk. `table` is what the device reads and writes, too: the blocks, then
    /// BlockLayout::sent_count() blocks of messages. It is empty if no device does.
    void begin(const BlockLayout& layout, std::size_t elem_bytes, std::byte* scratch,
               std::span<CodedBlock> table);

    /// Returns the blocks of a local step's slot, or of a message. They are valid until the chunk
    /// ends.
    std::span<CodedBlock> of(const Step& step, Slot slot) const;
    std::byte* bytes_of(const CodedBlock& block) const { return scratch_ + block.offset_bytes; }
    /// Returns the block as it lies at `bytes`, which were written in scratch, to the room of the
    /// block or before it.
    CodedBlock block_at(const std::byte* bytes, const CodedBlock& block) const {
        return {static_cast<std::uint64_t>(bytes - scratch_), block.size_bytes, block.is_plain};
    }
    /// Says where blocks come to that are going to be copied to a slot, each with the room of its
    /// bound.
    void make_room(const Step& copy, std::uint64_t offset_bytes) const;
    /// Returns the most bytes that `count_elems` elements of the step take.
    std::size_t bound_of(const Step& step, std::size_t count_elems) const;

    /// Puts a message together behind room for its header: the lengths of the blocks, then the
    /// blocks. If `is_void` the sender has failed, so there are no blocks. It is called once for
    /// all sends of a slot. Returns whether all blocks are plain: then there are no lengths.
    bool join(const Step& send, bool is_void);
    /// Lays a message out as join() does, of blocks that the device has made, but leaves it to the
    /// device to move them. `move` is from its memory to the mirror. Errors: internal if the device
    /// wrote more than the codec says.
    Result<bool> lay_out(const Step& send, BlockMove& move);
    /// Returns the message that has been put together, or has arrived.
    MessageBytes message(Slot slot) const { return messages_[slot.index].bytes; }
    /// Returns whether all blocks of a message that has arrived are plain.
    bool is_plain(Slot slot) const { return messages_[slot.index].is_plain; }
    /// Finds the blocks of a message of `received_bytes`, of which the header has been checked.
    /// `is_plain` is what that header says of them. Errors: corrupt if their lengths are not those
    /// of such blocks, or not of that message.
    Status find(const Step& recv, std::size_t received_bytes, bool is_plain);

  private:
    struct Message {
        MessageBytes bytes;
        bool is_plain = false;
    };

    void join_void(const Step& send);
    void move_together(std::span<const CodedBlock> blocks, std::byte* to) const;
    Result<std::size_t> read_lengths(const Step& recv, std::size_t received_bytes);
    void set_plain(std::span<CodedBlock> blocks, const Step& recv, std::size_t first) const;
    Status place(const Step& recv, std::size_t at, std::size_t end);
    std::size_t elems_of_block(const Step& step, std::size_t block) const;

    const BlockLayout* layout_ = nullptr;
    std::size_t elem_bytes_ = 1;
    std::byte* scratch_ = nullptr;
    std::vector<CodedBlock> own_;
    std::span<CodedBlock> blocks_;   ///< all blocks, by number
    std::span<CodedBlock> sent_;     ///< where the device puts blocks in messages
    std::vector<Message> messages_;  ///< one per slot
};

}  // namespace gradcoll
