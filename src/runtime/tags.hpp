// runtime/tags.hpp - how sequence, chunk and stage share the bits of a message tag.
#pragma once

#include <cstdint>

#include "base/status.hpp"

namespace gradcoll {

/// At most this many chunks that are in flight at the same time have tags of their own, if the tags
/// of the channel are long enough (TagLayout::chunk_count).
inline constexpr int max_chunks_in_flight = 16;

/// A tag has these fields, from the most significant bit: sequence | chunk | stage, each counted
/// modulo its field. Of the B bits that the channel's tag limit allows, chunk has B - 13, but 2 to
/// 4; sequence 2/5 of the rest, but at least 6; stage what remains, but at most 16:
///
///   B                                   sequence      chunk    stage
///   15 (what the MPI standard grants)   6:   64       2:  4    7:   128
///   17                                  6:   64       4: 16    7:   128
///   23                                  7:  128       4: 16    12:  4096
///   31 (Open MPI)                       11: 2048      4: 16    16: 65536
///
/// The layout depends on the channel alone, so that different plans on one communicator never meet.
/// 128 stages are enough for direct and recursive exchanges of any tree (at most 2 and about 40),
/// and for rings of up to 64 branches, half as many where devices take part, which number the
/// acknowledgements as well, and where messages are checked. A plan with more is refused by make().
///
/// A field that wraps is harmless as long as whoever has the tags begins after the one before that
/// had them has ended, on every rank: then their messages keep their order. For chunks the executor
/// sees to it: it has at most chunk_count() of them in flight. For operations whoever numbers them
/// does, with OperationNumbers: operation n + sequence_count() waits until n has ended.
class TagLayout {
  public:
    /// Errors: unsupported if `stage_count` stages do not fit, or if the limit is below the
    /// standard's 32767.
    static Result<TagLayout> make(int tag_limit, std::uint32_t stage_count);

    /// Returns the tag of stage 0, to which the stage is added.
    int base(std::uint32_t sequence, std::int64_t chunk) const;
    std::uint32_t sequence_count() const { return 1U << sequence_bits_; }
    int chunk_count() const { return 1 << chunk_bits_; }
    std::uint32_t stage_count() const { return 1U << stage_bits_; }

    // Checked operations have twice the stages: the first half is for messages, its last one for
    // the outcome, and the second half for what seals them (transport/checked_lane.hpp).
    static constexpr std::uint32_t checked_stages(std::uint32_t stages) { return 2 * (stages + 1); }
    int seal_shift() const { return 1 << (stage_bits_ - 1); }
    int outcome_stage() const { return seal_shift() - 1; }

  private:
    explicit TagLayout(int tag_bits);

    int sequence_bits_;
    int chunk_bits_;
    int stage_bits_;
};

}  // namespace gradcoll
