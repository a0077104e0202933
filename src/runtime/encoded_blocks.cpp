#include "runtime/encoded_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

void EncodedBlocks::join(const Step& send, bool is_void) {
    std::byte* const begin = scratch_ + layout_->message_offset(send.from);
    std::byte* length = begin + frame_header_bytes;
    std::byte* end = begin + frame_front_bytes(send.codec, elems_of(send));
    for (const EncodedBlock& block : of(send, send.from)) {
        const std::size_t size = is_void ? 0 : block.size_bytes;
        write_block_length(size, length);
        length += block_length_bytes;
        // Where they are one behind the other already, each is where it is to go.
        if (size > 0 && bytes_of(block) != end) std::memcpy(end, bytes_of(block), size);
        end += size;
    }
    message_bytes_[send.from.index] = static_cast<std::size_t>(end - begin);
}

Status EncodedBlocks::find(const Step& recv, std::size_t received_bytes) {
    const std::size_t front = frame_front_bytes(recv.codec, elems_of(recv));
    if (received_bytes < front)
        return bad_lengths("{} bytes arrived: header and lengths of blocks are {}", received_bytes,
                           front);
    const std::byte* const begin = scratch_ + layout_->message_offset(recv.to);
    const std::byte* length = begin + frame_header_bytes;
    const std::size_t block_elems = codec_block_elems(recv.codec);
    std::size_t left_elems = elems_of(recv);
    std::size_t at = front;
    for (EncodedBlock& block : of(recv, recv.to)) {
        const std::size_t size = read_block_length(length);
        const std::size_t most =
            std::min(bound_of(recv, std::min(left_elems, block_elems)), received_bytes - at);
        if (size > most) return bad_lengths("a block of {} bytes: expected at most {}", size, most);
        block = block_at(begin + at, size);
        at += size;
        length += block_length_bytes;
        left_elems -= std::min(left_elems, block_elems);
    }
    if (at != received_bytes)
        return bad_lengths("blocks of {} bytes: expected {}", at - front, received_bytes - front);
    message_bytes_[recv.to.index] = received_bytes;
    return {};
}

}  // namespace gradcoll
