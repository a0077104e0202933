// runtime/one_host/call.hpp - one allreduce as a rank sees it, how its vector is cut into blocks,
// and a block into a piece for each rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "reduce/reducer.hpp"

namespace gradcoll {

struct OneHostCall {
    const void* input = nullptr;  ///< equals `output` for calls in place
    void* output = nullptr;
    std::size_t count = 0;
    Reducer reducer;
    std::uint64_t signature = 0;  ///< differs for calls that differ in count, type or op

    std::size_t bytes() const { return count * reducer.element_bytes; }
};

/// Blocks of equal size but for the last, of whole cache lines for each of `pieces`. At least one
/// block, which may be empty. As few blocks as `block_bytes` allows, and these as even as can be.
class CallBlocks {
  public:
    CallBlocks(const OneHostCall& call, std::size_t block_bytes, int pieces)
        : input_(static_cast<const std::byte*>(call.input)),
          output_(static_cast<std::byte*>(call.output)),
          elem_bytes_(call.reducer.element_bytes),
          total_elems_(call.count) {
        const auto ranks = static_cast<std::size_t>(pieces);
        const std::size_t line_elems = std::max<std::size_t>(1, line_bytes / elem_bytes_);
        const std::size_t most = std::max<std::size_t>(
            line_elems, block_bytes / ranks / elem_bytes_ / line_elems * line_elems);
        const std::size_t wanted = std::max<std::size_t>(1, ceil_div(call.count, most * ranks));
        piece_elems_ =
            std::min(most, ceil_div(ceil_div(call.count, wanted * ranks), line_elems) * line_elems);
        piece_elems_ = std::max(piece_elems_, line_elems);
        block_elems_ = piece_elems_ * ranks;
        count_ = std::max<std::size_t>(1, ceil_div(call.count, block_elems_));
    }

    std::size_t count() const { return count_; }
    std::size_t elems(std::size_t block) const {
        return std::min(block_elems_, total_elems_ - block * block_elems_);
    }
    std::size_t bytes(std::size_t block) const { return elems(block) * elem_bytes_; }
    const std::byte* input(std::size_t block) const { return input_ + offset(block); }
    std::byte* output(std::size_t block) const { return output_ + offset(block); }

    /// Where the piece of a rank lies in a block, in the slots of ranks as in the vector.
    std::size_t piece_offset(std::size_t block, int rank) const {
        return piece_begin(block, rank) * elem_bytes_;
    }
    std::size_t piece_elems(std::size_t block, int rank) const {
        return piece_begin(block, rank + 1) - piece_begin(block, rank);
    }
    std::size_t piece_bytes(std::size_t block, int rank) const {
        return piece_elems(block, rank) * elem_bytes_;
    }

  private:
    static constexpr std::size_t line_bytes = 64;
    static std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
    std::size_t offset(std::size_t block) const { return block * block_elems_ * elem_bytes_; }
    std::size_t piece_begin(std::size_t block, int rank) const {
        return std::min(static_cast<std::size_t>(rank) * piece_elems_, elems(block));
    }

    const std::byte* input_;
    std::byte* output_;
    std::size_t elem_bytes_;
    std::size_t total_elems_;
    std::size_t piece_elems_;
    std::size_t block_elems_;
    std::size_t count_;
};

}  // namespace gradcoll
