// collectives/build/flexreduce/blocks.hpp - between the tree's own ownership and the MPI standard's
// blocks (rank r: elements [r * block, (r + 1) * block)): one direct exchange, after the
// reduce-scatter or before the allgather.
#pragma once

#include "collectives/build/flexreduce/transfer.hpp"
#include "collectives/plan/partition.hpp"

namespace gradcoll {

/// Who has what in the two layouts.
struct BlockLayout {
    Range block;               ///< this rank's block
    std::vector<Range> owned;  ///< what this rank owns after the root's reduce-scatter
    std::vector<Message>
        to_owners;  ///< pieces of our block, by the rank that owns them (never this one)
    std::vector<Message>
        to_blocks;  ///< pieces that we own, by the rank whose block they are in (never this one)
};
BlockLayout block_layout(const Tree& tree, const OwnershipMap& map, int rank,
                         const std::vector<Range>& owned);

/// Sums from the work vector to the blocks' ranks, each into its output.
void append_to_blocks(Transfer& transfer, const BlockLayout& layout);

/// Values from `source` (input, or output if in place) of the blocks' ranks to the owners' outputs.
void append_from_blocks(Transfer& transfer, const BlockLayout& layout, Slot source);

}  // namespace gradcoll
