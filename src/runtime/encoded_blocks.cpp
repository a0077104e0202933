#include "runtime/encoded_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compress/block_lengths.hpp"
#include "compress/frame.hpp"

namespace gradcoll {
namespace {

template <class... Args>
Status bad_lengths(fmt::format_string<Args...> format, Args&&... args) {
    return {Code::corrupt, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace

void EncodedBlocks::begin(const BlockLayout& layout, std::size_t elem_bytes, std::byte* scratch) {
    layout_ = &layout;
    elem_bytes_ = elem_bytes;
    scratch_ = scratch;
}

std::span<EncodedBlock> EncodedBlocks::of(const Step& step, Slot slot) {
    return std::span(blocks_).subspan(layout_->first_block(slot),
                                      counted_blocks(step.codec, elems_of(step)));
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
    const std::span<EncodedBlock> blocks = of(send, send.from);
    const auto write_lengths = [blocks](BlockLengthsWriter writer) {
        for (const EncodedBlock& block : blocks)
            block.is_plain ? writer.add_plain() : writer.add_encoded(block.size_bytes);
        return writer;
    };
    const BlockLengthsWriter counted = write_lengths(BlockLengthsWriter(nullptr));
    const bool is_plain = !counted.has_encoded();
    const std::size_t front = frame_header_bytes + (is_plain ? 0 : counted.size_bytes());
    std::byte* begin = scratch_ + layout_->message_offset(send.from);
    if (layout_->is_in_its_slot(send.from))
        begin = bytes_of(blocks.front()) - front;  // the list is at most as long as it has room for
    else
        move_together(blocks, begin + front);
    if (!is_plain) write_lengths(BlockLengthsWriter(begin + frame_header_bytes));
    std::size_t size = front;
    for (const EncodedBlock& block : blocks) size += block.size_bytes;
    messages_[send.from.index] = {begin, size};
    return is_plain;
}

void EncodedBlocks::join_void(const Step& send) {
    std::byte* const begin = scratch_ + layout_->message_offset(send.from);
    BlockLengthsWriter lengths(begin + frame_header_bytes);
    for (std::size_t i = of(send, send.from).size(); i > 0; --i) lengths.add_encoded(0);
    messages_[send.from.index] = {begin, frame_header_bytes + lengths.size_bytes()};
}

void EncodedBlocks::move_together(std::span<EncodedBlock> blocks, std::byte* to) const {
    for (const EncodedBlock& block : blocks) {
        if (block.size_bytes > 0) std::memcpy(to, bytes_of(block), block.size_bytes);
        to += block.size_bytes;
    }
}

Status EncodedBlocks::find(const Step& recv, std::size_t received_bytes, bool is_plain) {
    if (is_plain) {
        set_plain(of(recv, recv.to), recv, 0);
        return place(recv, frame_header_bytes, received_bytes);
    }
    return place(recv, GRADCOLL_VALUE(read_lengths(recv, received_bytes)), received_bytes);
}

/// `blocks`: of the message, from number `first` on.
void EncodedBlocks::set_plain(std::span<EncodedBlock> blocks, const Step& recv,
                              std::size_t first) const {
    for (EncodedBlock& block : blocks) {
        block.size_bytes = static_cast<std::uint32_t>(elems_of_block(recv, first++) * elem_bytes_);
        block.is_plain = true;
    }
}

/// Returns where the list ends. None of it is believed.
Result<std::size_t> EncodedBlocks::read_lengths(const Step& recv, std::size_t received_bytes) {
    const std::byte* const begin = scratch_ + layout_->message_offset(recv.to);
    const std::span<EncodedBlock> blocks = of(recv, recv.to);
    std::size_t at = frame_header_bytes;
    for (std::size_t next = 0; next < blocks.size(); at += block_length_bytes) {
        const std::size_t left = blocks.size() - next;
        if (received_bytes < at + block_length_bytes)
            return bad_lengths("{} bytes arrived, without the lengths of the last {} blocks",
                               received_bytes, left);
        const BlockEntry entry = read_block_entry(begin + at);
        if (entry.is_plain_run) {
            if (entry.value == 0 || entry.value > left)
                return bad_lengths("{} plain blocks: expected 1 to {}", entry.value, left);
            set_plain(blocks.subspan(next, entry.value), recv, next);
            next += entry.value;
            continue;
        }
        if (const std::size_t most = bound_of(recv, elems_of_block(recv, next)); entry.value > most)
            return bad_lengths("a block of {} bytes: expected at most {}", entry.value, most);
        blocks[next].size_bytes = static_cast<std::uint32_t>(entry.value);
        blocks[next++].is_plain = false;
    }
    return at;
}

/// The blocks, whose lengths are known, from `at` on; they have to fill the message.
Status EncodedBlocks::place(const Step& recv, std::size_t at, std::size_t end) {
    const std::size_t front = at;
    const std::uint64_t begin = layout_->message_offset(recv.to);
    for (EncodedBlock& block : of(recv, recv.to)) {
        if (block.size_bytes > end - at)
            return bad_lengths("a block of {} bytes: expected at most {}", block.size_bytes,
                               end - at);
        block.offset_bytes = begin + at;
        at += block.size_bytes;
    }
    if (at != end) return bad_lengths("blocks of {} bytes: expected {}", at - front, end - front);
    return {};
}

}  // namespace gradcoll
