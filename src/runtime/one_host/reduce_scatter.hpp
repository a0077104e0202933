// runtime/one_host/reduce_scatter.hpp - exact reduction of which every rank that shares memory gets
// one block.
#pragma once

#include <vector>

#include "runtime/one_host/allreduce.hpp"
#include "runtime/one_host/pieces.hpp"

namespace gradcoll {

/// In a OneHostReduceScatter everybody copies the others' blocks in, and combines its own from all
/// in rank order: the bits of the allreduce of the same vectors by up to 8 ranks. Short vectors lie
/// beside the flag, long ones travel in pieces of every block.
/// Used by one thread at a time. Allocates only when made; takes no lock; makes system calls only
/// while it waits for long.
class OneHostReduceScatter {
  public:
    /// The group must outlive this object, and do nothing else meanwhile.
    OneHostReduceScatter(SegmentGroup& group, const OneHostChoices& choices);

    /// Reduces and scatters. `call.count` is the number of elements of one block; `input` has
    /// rank_count blocks, `output` one, which may be the first of the input. Errors:
    /// invalid_argument, on all ranks, if signatures differ; the output is then unspecified.
    Status run(const OneHostCall& call);
    /// Returns whether blocks of `block_bytes` need block slots.
    bool uses_blocks(std::size_t block_bytes) const {
        return block_bytes * ranks() > choices_.sizes.inline_bytes;
    }

  private:
    std::size_t ranks() const { return static_cast<std::size_t>(group_.rank_count()); }
    Status beside_flag(const OneHostCall& call);
    Status in_pieces(const OneHostCall& call);
    void copy_piece_in(const OneHostCall& call, const Pieces& pieces, std::size_t piece);
    void combine_piece(const OneHostCall& call, const Pieces& pieces, std::size_t piece);
    template <class SlotOf>
    void combine(const OneHostCall& call, std::size_t offset, std::size_t count, SlotOf slot_of);

    SegmentGroup& group_;
    OneHostChoices choices_;
    std::vector<const void*> sources_;  ///< one per rank
};

}  // namespace gradcoll
