// runtime/one_host/allreduce.hpp - exact allreduce of ranks that share memory: every element is
// copied in once, combined in rank order, and copied out once.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.hpp"
#include "runtime/one_host/call.hpp"
#include "runtime/one_host/segment_group.hpp"

namespace gradcoll {

/// When which way is taken. The same on all ranks.
struct OneHostChoices {
    SegmentSizes sizes;
    int flat_ranks = 8;              ///< up to so many ranks everybody reads everybody
    std::size_t flat_max_bytes = 0;  ///< of longer vectors each rank combines a share, if ranks > 2
    std::size_t stream_min_bytes = 0;  ///< from here on split results go past the caches
    /// What was measured best (docs/benchmarks.md), with at most so much shared memory a rank.
    /// More if the smallest blocks, of a cache line for every rank, need more.
    static OneHostChoices fitting(int rank_count, std::size_t bytes_a_rank);
    /// The same with smaller blocks, as far as there can be.
    OneHostChoices with_blocks_of(int rank_count, std::size_t bytes) const;
};

/// Ways, by ranks and bytes:
/// - flat: everybody copies in all and combines all, one announcement a block; short vectors lie
///   beside the flag. Two ranks do all sizes so: a share each would move as many bytes, and wait
///   twice.
/// - tree: for short vectors of many ranks; each inner rank combines its children's, and rank 0's
///   result is read by all.
/// - split: blocks are cut in a piece for each rank, which combines it from all and offers the
///   result to all; three blocks are under way at a time, so that waiting is hidden.
/// Everybody combines in rank order (tree: by groups in rank order), so all ranks have the same
/// bits. Source: reduce-scatter and allgather through shared memory, as in Graham and Shipman, "MPI
/// support for multi-core architectures" (EuroPVM/MPI 2008); flags beside data and fixed slots are
/// our own.
///
/// Used by one thread at a time. Allocates only when made. Takes no lock; makes system calls only
/// while it waits for long.
class OneHostAllreduce {
  public:
    /// The group must outlive it, and be used by nobody else.
    OneHostAllreduce(SegmentGroup& group, const OneHostChoices& choices);

    /// Errors: invalid_argument, on all ranks, if signatures differ; the output is then
    /// unspecified.
    Status run(const OneHostCall& call);

  private:
    Status flat_inline(const OneHostCall& call);
    Status flat_in_blocks(const OneHostCall& call);
    Status tree(const OneHostCall& call);
    Status split(const OneHostCall& call);

    Status check_alike_or_leave();
    void copy_pieces_in(const CallBlocks& blocks, std::size_t block);
    void combine_piece(const OneHostCall& call, const CallBlocks& blocks, std::size_t block);
    void copy_results_out(const OneHostCall& call, const CallBlocks& blocks, std::size_t block);
    /// Whether results go past the caches.
    bool streams(const OneHostCall& call) const;
    using Sources = std::vector<const void*>;
    /// What to combine: slot_of(rank) of every other rank, of this one its input, which is in a
    /// nearer cache.
    template <class SlotOf>
    const Sources& sources_at(SlotOf slot_of, const void* mine) {
        for (int rank = 0; rank < group_.rank_count(); ++rank)
            sources_[static_cast<std::size_t>(rank)] = rank == group_.rank() ? mine : slot_of(rank);
        return sources_;
    }

    SegmentGroup& group_;
    OneHostChoices choices_;
    Sources sources_;  ///< by rank
};

}  // namespace gradcoll
