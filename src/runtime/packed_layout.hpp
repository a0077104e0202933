// runtime/packed_layout.hpp - which messages of a schedule are packed without loss, and where that
// is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// Room for messages in the scratch, beside its slots, is aligned to this many bytes.
inline constexpr std::uint64_t message_alignment = 64;

/// PackedLayout says where packed messages lie. A message whose codec says so (packing_of())
/// travels packed, where that is shorter. Beside the slot that it leaves from or comes to it has
/// room for its packed form: what comes is unpacked into the slot, where everything else finds the
/// message as if it had come so. Immutable.
class PackedLayout {
  public:
    PackedLayout() = default;
    /// Takes `used_bytes` of the scratch for used already. Messages to and from `plain_peers`
    /// (ascending) are not packed.
    PackedLayout(const Schedule& schedule, std::uint64_t used_bytes,
                 std::span<const int> plain_peers);

    bool empty() const { return offsets_.empty(); }
    /// Returns whether the message is packed.
    bool has(std::size_t step) const { return !empty() && offsets_[step] != 0; }
    /// Returns the offset of a packed message from the begin of the scratch; all messages of a slot
    /// share it.
    std::uint64_t offset_bytes(std::size_t step) const { return offsets_[step]; }
    /// Returns the size of the scratch, `used_bytes` included.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  private:
    std::vector<std::uint64_t> offsets_;  ///< one per step, 0 if it is not packed; empty if none is
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
