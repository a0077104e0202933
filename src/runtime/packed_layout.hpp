// runtime/packed_layout.hpp - which messages of a schedule are packed without loss, and where that
// is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/plan/schedule.hpp"

namespace gradcoll {

/// Where messages have room of their own in the scratch, beside its slots.
inline constexpr std::uint64_t message_alignment = 64;

/// A message whose codec says so (packing_of()) travels packed, where that is shorter. Beside the
/// slot that it leaves from or comes to it has room for its packed form: what comes is unpacked
/// into the slot, where everything else finds the message as if it had come so. Immutable.
class PackedLayout {
  public:
    PackedLayout() = default;
    /// `used_bytes`: what is taken of the scratch. `plain_peers`: to and from these (ascending)
    /// nothing is packed.
    PackedLayout(const Schedule& schedule, std::uint64_t used_bytes,
                 std::span<const int> plain_peers);

    bool empty() const { return offsets_.empty(); }
    /// Of a message that is packed.
    bool has(std::size_t step) const { return !empty() && offsets_[step] != 0; }
    /// From the begin of the scratch; all messages of a slot share it. Of such a message only.
    std::uint64_t offset_bytes(std::size_t step) const { return offsets_[step]; }
    /// With all that was used before.
    std::uint64_t scratch_bytes() const { return scratch_bytes_; }

  private:
    std::vector<std::uint64_t> offsets_;  ///< by step, 0: is not packed; none if none is
    std::uint64_t scratch_bytes_ = 0;
};

}  // namespace gradcoll
