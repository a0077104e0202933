#include "runtime/packed_messages.hpp"

#include <algorithm>

#include "compress/frame.hpp"
#include "compress/lossless/packer.hpp"

namespace gradcoll {

void PackedMessages::begin(const PackedLayout& layout, std::byte* scratch) {
    layout_ = layout.empty() ? nullptr : &layout;
    scratch_ = scratch;
    if (layout_ != nullptr) std::fill(sizes_.begin(), sizes_.end(), not_packed_yet);
}

bool PackedMessages::pack_once(std::size_t step, Slot slot, const MessageBytes& plain,
                               Packer& packer) {
    std::size_t& size = sizes_[slot.index];
    if (size != not_packed_yet) return false;
    size = pack_message({plain.data, plain.size_bytes}, packer, room(step, plain).data);
    return true;
}

MessageBytes PackedMessages::sent(std::size_t step, Slot slot, const MessageBytes& plain) const {
    const std::size_t size = sizes_[slot.index];
    if (size == 0 || size == not_packed_yet) return plain;
    return {room(step, plain).data, size};
}

void PackedMessages::leave_plain(Slot slot) {
    if (layout_ != nullptr) sizes_[slot.index] = 0;
}

Result<std::size_t> PackedMessages::unpack(std::size_t step, Slot slot, std::size_t received_bytes,
                                           const MessageBytes& plain, Packer& packer) {
    const std::size_t size = GRADCOLL_VALUE(unpack_message({room(step, plain).data, received_bytes},
                                                           packer, {plain.data, plain.size_bytes}));
    sizes_[slot.index] = received_bytes < size ? received_bytes : 0;
    return size;
}

}  // namespace gradcoll
