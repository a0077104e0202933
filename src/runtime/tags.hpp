// runtime/tags.hpp - how sequence, chunk and stage share the bits of a message tag.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace gradcoll {

/// Chunks that are in flight at the same time have tags of their own up to this many.
inline constexpr int max_chunks_in_flight = 16;

/// From the most significant bit: sequence | chunk | stage, each counted modulo its field. Of the B
/// bits that the channel's tag limit allows, chunk has 4, sequence 2/5 of the rest, stage what
/// remains, but at most 16. With B = 31 (Open MPI): 11, 4 and 16. With the 15 bits that the MPI
/// standard guarantees: 4, 4 and 7. The layout depends on the channel alone, so that different
/// plans on one communicator never meet.
///
/// A field that wraps is harmless for chunks: chunk c + 16 starts after chunk c has ended, on every
/// rank, so their messages keep their order. Operations that overlap in time must be fewer than
/// sequence_count().
class TagLayout {
  public:
    /// Errors: unsupported if `stage_count` stages do not fit, or if the limit is below the
    /// standard's 32767.
    static Result<TagLayout> make(int tag_limit, std::uint32_t stage_count);

    /// Tag of stage 0; add the stage.
    int base(std::uint32_t sequence, std::int64_t chunk) const;
    std::uint32_t sequence_count() const { return 1U << sequence_bits_; }
    std::uint32_t stage_count() const { return 1U << stage_bits_; }

  private:
    explicit TagLayout(int tag_bits);

    int sequence_bits_;
    int stage_bits_;
};

}  // namespace gradcoll
