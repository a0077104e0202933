// runtime/chunk_view.hpp - where the places of one chunk lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/plan/plan.hpp"
#include "runtime/binding.hpp"
#include "runtime/encoded_blocks.hpp"

namespace gradcoll {

/// ChunkScratch says where a chunk's own memory is, without owning it.
struct ChunkScratch {
    std::byte* bytes = nullptr;
    EncodedBlocks* blocks = nullptr;  ///< null where all codecs have a fixed rate
};

/// Turns slots and ranges into addresses. A value; owns nothing.
class ChunkView {
  public:
    ChunkView() = default;
    ChunkView(const Plan& plan, const Schedule& schedule, std::int64_t chunk,
              const Binding& binding, const ChunkScratch& scratch);

    /// Returns where an element of the chunk is in the vectors of the call.
    std::int64_t in_vector(std::int64_t elem) const { return place_.in_vector(elem); }
    bool is_in_parts() const { return !parts_.empty(); }
    /// Returns the end of the elements from `range.begin` on that lie in one piece.
    std::int64_t piece_end(Range range) const;
    /// Returns a view for the rest of a step, whose slots begin this many bytes later.
    ChunkView later_in_slots(std::size_t skipped_bytes) const;
    /// Returns the first byte of a place that may be read; null for Slot::none().
    const std::byte* source(Slot slot, Range range) const;
    /// Returns X of a step `to = X op slot` (StepKind).
    const std::byte* first_operand(const Step& step) const {
        return source(step.from_input ? Slot::input() : step.to, step.range);
    }
    /// Returns the first byte of a place that may be written; null for the input and Slot::none().
    std::byte* target(Slot slot, Range range) const;
    /// Returns the chunk's own memory, in which offset_in_scratch() says where a slot is.
    std::byte* scratch() const { return scratch_; }
    std::size_t offset_in_scratch(Slot slot) const {
        return schedule_->slots[slot.index].offset_bytes;
    }
    /// Returns where the encoded blocks of a step or message are; null if its codec has a fixed
    /// rate.
    EncodedBlocks* blocks_of(const Step& step) const {
        return blocks_ && !has_fixed_rate(step.codec) ? blocks_ : nullptr;
    }
    /// Returns what a send moves, or a receive at most: all of a scratch slot, or the range of a
    /// vector.
    MessageBytes message(const Step& step) const;
    std::size_t bytes_of(Range range) const {
        return static_cast<std::size_t>(range.size()) * elem_bytes_;
    }
    /// Returns the residual of the chunk's element `elem`, which is the chunk's residual element
    /// `place`; null without feedback.
    std::byte* residual(std::int64_t place, std::int64_t elem) const;

  private:
    std::ptrdiff_t offset(std::int64_t elem) const {
        return elem * static_cast<std::ptrdiff_t>(elem_bytes_);
    }

    std::byte* output(std::int64_t elem) const;

    const Schedule* schedule_ = nullptr;
    const std::byte* input_ = nullptr;
    std::byte* output_ = nullptr;
    std::byte* scratch_ = nullptr;
    EncodedBlocks* blocks_ = nullptr;
    std::byte* residual_ = nullptr;
    std::span<const VectorPart> parts_;  ///< empty: the vectors lie in one piece each
    std::size_t skipped_in_slots_ = 0;
    ChunkPlace place_;
    /// These elements of the vectors are the first that the caller's buffers hold.
    std::int64_t input_begin_elem_ = 0;
    std::int64_t output_begin_elem_ = 0;
    std::size_t elem_bytes_ = 1;
    std::size_t residual_elem_bytes_ = 4;
};

/// Returns whether this rank encodes every element of an allreduce exactly once, with feedback.
bool encodes_each_element_once(const Plan& plan);
/// Returns whether no message goes from the vectors themselves, or to them.
bool has_messages_in_scratch(const Plan& plan);

}  // namespace gradcoll
