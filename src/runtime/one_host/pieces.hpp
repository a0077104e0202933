// runtime/one_host/pieces.hpp - how a long vector is cut to travel through block slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/round.hpp"

namespace gradcoll {

/// Pieces cuts a vector into pieces of whole cache lines, as few as `most_bytes` allows and these
/// as even as can be. The last may be shorter. There is at least one, which may be empty. As many
/// as fit lie one behind the other in a block slot: memory that is used again soon is in the other
/// core's cache, and slow to write.
class Pieces {
  public:
    /// `most_bytes` is at least a cache line, and so is `block_bytes`, the size of a slot.
    /// Pieces begin at whole multiples of `together_elems`, which fit into a block.
    Pieces(std::size_t count, std::size_t elem_bytes, std::size_t most_bytes,
           std::size_t block_bytes, std::size_t together_elems = 1)
        : total_elems_(count), elem_bytes_(elem_bytes) {
        const std::size_t line_elems =
            std::max({std::size_t{1}, line_bytes / elem_bytes, together_elems});
        const std::size_t most =
            std::min(most_bytes, block_bytes) / (line_elems * elem_bytes) * line_elems;
        const std::size_t wanted = std::max<std::size_t>(1, divided_up(count, most));
        piece_elems_ = std::max(line_elems, rounded_up(divided_up(count, wanted), line_elems));
        count_ = std::max<std::size_t>(1, divided_up(count, piece_elems_));
        a_block_ = std::max<std::size_t>(1, block_bytes / (piece_elems_ * elem_bytes));
        places_ = std::max<std::size_t>(1, block_bytes / span_bytes());
    }

    std::size_t count() const { return count_; }
    /// Returns the first element of a piece.
    std::size_t begin(std::size_t piece) const { return piece * piece_elems_; }
    std::size_t elems(std::size_t piece) const {
        return std::min(piece_elems_, total_elems_ - begin(piece));
    }
    std::size_t bytes(std::size_t piece) const { return elems(piece) * elem_bytes_; }
    /// Returns the distance in bytes from the begin of the vector.
    std::size_t offset(std::size_t piece) const { return begin(piece) * elem_bytes_; }

    /// Returns the block slot that a piece lies in; offset_in_block() says where in it.
    std::size_t block(std::size_t piece) const { return piece / a_block_; }
    std::size_t offset_in_block(std::size_t piece) const { return offset(piece % a_block_); }
    std::size_t blocks() const { return block(count_ - 1) + 1; }
    /// Returns how many vectors like this one a block holds one behind the other, span_bytes()
    /// apart: 1 if it needs more than one block.
    std::size_t places() const { return places_; }
    std::size_t span_bytes() const { return count_ * piece_elems_ * elem_bytes_; }
    /// Returns the piece that must have been read before this one is written, if blocks go round
    /// and round `slots` slots; none if this one is not the first of its block, or if its slot is
    /// new.
    std::optional<std::size_t> overwritten(std::size_t piece, std::size_t slots) const {
        if (piece % a_block_ != 0 || block(piece) < slots) return {};
        return (block(piece) - slots + 1) * a_block_ - 1;
    }

  private:
    static constexpr std::size_t line_bytes = 64;

    std::size_t total_elems_;
    std::size_t elem_bytes_;
    std::size_t piece_elems_;
    std::size_t count_;
    std::size_t a_block_;  ///< how many pieces a block holds
    std::size_t places_;
};

}  // namespace gradcoll
