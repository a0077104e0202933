#include "runtime/encoded_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/refusals.hpp"
#include "compress/block_lengths.hpp"
#include "compress/frame.hpp"

namespace gradcoll {
namespace {

/// MessageFront is what precedes the blocks of a message: room for its header, and the lengths of
/// the blocks unless all are plain.
class MessageFront {
  public:
    explicit MessageFront(std::span<const CodedBlock> blocks) : blocks_(blocks) {
        const BlockLengthsWriter counted = written(BlockLengthsWriter(nullptr));
        is_plain_ = !counted.has_encoded();
        if (!is_plain_) size_bytes_ += counted.size_bytes();
    }
    bool is_plain() const { return is_plain_; }
    std::size_t size_bytes() const { return size_bytes_; }
    std::size_t message_bytes() const {
        std::size_t size = size_bytes_;
        for (const CodedBlock& block : blocks_) size += block.size_bytes;
        return size;
    }
    void write(std::byte* message) const {
        if (!is_plain_) written(BlockLengthsWriter(message + frame_header_bytes));
    }

  private:
    BlockLengthsWriter written(BlockLengthsWriter writer) const {
        for (const CodedBlock& block : blocks_)
            block.is_plain != 0 ? writer.add_plain() : writer.add_encoded(block.size_bytes);
        return writer;
    }

    std::span<const CodedBlock> blocks_;
    bool is_plain_ = false;
    std::size_t size_bytes_ = frame_header_bytes;
};

}  // namespace

void EncodedBlocks::begin(const BlockLayout& layout, std::size_t elem_bytes, std::byte* scratch,
                          std::span<CodedBlock> table) {
    layout_ = &layout;
    elem_bytes_ = elem_bytes;
    scratch_ = scratch;
    blocks_ = table.empty() ? std::span(own_) : table.first(layout.block_count());
    sent_ = table.empty() ? std::span<CodedBlock>()
                          : table.subspan(layout.block_count(), layout.sent_count());
}

std::span<CodedBlock> EncodedBlocks::of(const Step& step, Slot slot) const {
    return blocks_.subspan(layout_->first_block(slot), counted_blocks(step.codec, elems_of(step)));
}

void EncodedBlocks::make_room(const Step& copy, std::uint64_t offset_bytes) const {
    const std::size_t room = bound_of(copy, codec_block_elems(copy.codec));
    for (CodedBlock& block : of(copy, copy.to)) {
        block.offset_bytes = offset_bytes;
        offset_bytes += room;
    }
}

std::size_t EncodedBlocks::bound_of(const Step& step, std::size_t count_elems) const {
    return bound_bytes(step.codec, elem_bytes_, count_elems);
}

std::size_t EncodedBlocks::elems_of_block(const Step& step, std::size_t block) const {
    const std::size_t most = codec_block_elems(step.codec);
    return std::min(most, elems_of(step) - block * most);
}

bool EncodedBlocks::join(const Step& send, bool is_void) {
    if (is_void) {
        join_void(send);
        return false;
    }
    const std::span<const CodedBlock> blocks = of(send, send.from);
    const MessageFront front(blocks);
    std::byte* begin = scratch_ + layout_->message_offset(send.from);
    if (layout_->is_in_its_slot(send.from))
        // The list is at most as long as it has room for.
        begin = bytes_of(blocks.front()) - front.size_bytes();
    else
        move_together(blocks, begin + front.size_bytes());
    front.write(begin);
    messages_[send.from.index] = {{begin, front.message_bytes()}, front.is_plain()};
    return front.is_plain();
}

Result<bool> EncodedBlocks::lay_out(const Step& send, BlockMove& move) {
    const std::span<const CodedBlock> blocks = of(send, send.from);
    const std::span<CodedBlock> places =
        sent_.subspan(layout_->first_sent(send.from), blocks.size());
    const std::size_t most = bound_of(send, codec_block_elems(send.codec));
    const MessageFront front(blocks);
    const std::uint64_t begin = layout_->message_offset(send.from);
    std::uint64_t at = begin + front.size_bytes();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].size_bytes > most)
            return Status(Code::internal,
                          fmt::format("the device wrote a block of {} bytes, {} at most said",
                                      blocks[i].size_bytes, most));
        places[i].offset_bytes = at;
        at += blocks[i].size_bytes;
    }
    front.write(scratch_ + begin);
    move = {nullptr, scratch_, blocks.data(), places.data(), blocks.size()};
    messages_[send.from.index] = {{scratch_ + begin, front.message_bytes()}, front.is_plain()};
    return front.is_plain();
}

void EncodedBlocks::join_void(const Step& send) {
    std::byte* const begin = scratch_ + layout_->message_offset(send.from);
    BlockLengthsWriter lengths(begin + frame_header_bytes);
    for (std::size_t i = of(send, send.from).size(); i > 0; --i) lengths.add_encoded(0);
    messages_[send.from.index] = {{begin, frame_header_bytes + lengths.size_bytes()}, false};
}

void EncodedBlocks::move_together(std::span<const CodedBlock> blocks, std::byte* to) const {
    for (const CodedBlock& block : blocks) {
        if (block.size_bytes > 0) std::memcpy(to, bytes_of(block), block.size_bytes);
        to += block.size_bytes;
    }
}

Status EncodedBlocks::find(const Step& recv, std::size_t received_bytes, bool is_plain) {
    messages_[recv.to.index] = {{scratch_ + layout_->message_offset(recv.to), received_bytes},
                                is_plain};
    if (is_plain) {
        set_plain(of(recv, recv.to), recv, 0);
        return place(recv, frame_header_bytes, received_bytes);
    }
    return place(recv, GRADCOLL_VALUE(read_lengths(recv, received_bytes)), received_bytes);
}

/// Marks `blocks`, which are those of the message from number `first` on, as plain.
void EncodedBlocks::set_plain(std::span<CodedBlock> blocks, const Step& recv,
                              std::size_t first) const {
    for (CodedBlock& block : blocks) {
        block.size_bytes = static_cast<std::uint32_t>(elems_of_block(recv, first++) * elem_bytes_);
        block.is_plain = 1;
    }
}

/// Reads the list of lengths, of which it believes nothing unchecked, and returns where the list
/// ends.
Result<std::size_t> EncodedBlocks::read_lengths(const Step& recv, std::size_t received_bytes) {
    const std::byte* const begin = scratch_ + layout_->message_offset(recv.to);
    const std::span<CodedBlock> blocks = of(recv, recv.to);
    std::size_t at = frame_header_bytes;
    for (std::size_t next = 0; next < blocks.size(); at += block_length_bytes) {
        const std::size_t left = blocks.size() - next;
        if (received_bytes < at + block_length_bytes)
            return corrupt("{} bytes arrived, without the lengths of the last {} blocks",
                           received_bytes, left);
        const BlockEntry entry = read_block_entry(begin + at);
        if (entry.is_plain_run) {
            if (entry.value == 0 || entry.value > left)
                return corrupt("{} plain blocks: expected 1 to {}", entry.value, left);
            set_plain(blocks.subspan(next, entry.value), recv, next);
            next += entry.value;
            continue;
        }
        if (const std::size_t most = bound_of(recv, elems_of_block(recv, next)); entry.value > most)
            return corrupt("a block of {} bytes: expected at most {}", entry.value, most);
        blocks[next].size_bytes = static_cast<std::uint32_t>(entry.value);
        blocks[next++].is_plain = 0;
    }
    return at;
}

/// Places the blocks, whose lengths are known, from `at` on; they have to fill the message.
Status EncodedBlocks::place(const Step& recv, std::size_t at, std::size_t end) {
    const std::size_t front = at;
    const std::uint64_t begin = layout_->message_offset(recv.to);
    for (CodedBlock& block : of(recv, recv.to)) {
        if (block.size_bytes > end - at)
            return corrupt("a block of {} bytes: expected at most {}", block.size_bytes, end - at);
        block.offset_bytes = begin + at;
        at += block.size_bytes;
    }
    if (at != end) return corrupt("blocks of {} bytes: expected {}", at - front, end - front);
    return {};
}

}  // namespace gradcoll
