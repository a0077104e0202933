// runtime/packed_messages.hpp - the packed messages of one chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "collectives/plan/schedule.hpp"
#include "compress/lossless/packer.hpp"
#include "runtime/encoded_blocks.hpp"
#include "runtime/packed_layout.hpp"

namespace gradcoll {

/// PackedMessages is used for one chunk after another and allocates only when it is made. A slot is
/// packed once for all its sends, and what came packed is passed on as it came. All functions but
/// has() are for messages that it has; `plain` is where such a message lies as it is.
class PackedMessages {
  public:
    /// Makes room for that many slots.
    explicit PackedMessages(std::size_t slots) : sizes_(slots) {}
    void begin(const PackedLayout& layout, std::byte* scratch);
    bool has(std::size_t step) const { return layout_ != nullptr && layout_->has(step); }

    /// Returns where a message comes to, with as much room as `plain` has.
    MessageBytes room(std::size_t step, const MessageBytes& plain) const {
        return {scratch_ + layout_->offset_bytes(step), plain.size_bytes};
    }
    /// Packs a slot before its first send, and where others of it were not packed. Returns whether
    /// this call did it.
    bool pack_once(std::size_t step, Slot slot, const MessageBytes& plain, Packer& packer);
    /// Returns what a slot's sends move: the packed message, or the plain one if that is no longer.
    MessageBytes sent(std::size_t step, Slot slot, const MessageBytes& plain) const;
    /// Makes what the slot has leave as it is, because it is void.
    void leave_plain(Slot slot);
    /// Unpacks what came into `plain`, its slot, and returns its length there. Errors: corrupt.
    Result<std::size_t> unpack(std::size_t step, Slot slot, std::size_t received_bytes,
                               const MessageBytes& plain, Packer& packer);

  private:
    static constexpr std::size_t not_packed_yet = static_cast<std::size_t>(-1);

    const PackedLayout* layout_ = nullptr;  ///< null if none of the chunk's messages is packed
    std::byte* scratch_ = nullptr;
    std::vector<std::size_t> sizes_;  ///< one per slot; 0 if it goes as it is
};

}  // namespace gradcoll
