// runtime/one_host/allreduce.hpp - exact allreduce of ranks that share memory: every element is
// copied in once, combined in rank order, and copied out once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/round.hpp"
#include "base/status.hpp"
#include "memory/vector_part.hpp"
#include "reduce/reducer.hpp"
#include "runtime/one_host/piece_stores.hpp"
#include "runtime/one_host/segment_group.hpp"
#include "runtime/one_host/startable.hpp"

namespace gradcoll {

/// OneHostCall is one allreduce as a rank sees it.
struct OneHostCall {
    const void* input = nullptr;  ///< equals `output` for calls in place
    void* output =
        nullptr;  ///< where the result goes; null if only other ranks want it (OneHostReduce)
    std::size_t count = 0;
    Reducer reducer;
    std::uint64_t signature = 0;  ///< differs for calls that differ in count, type or op
    bool costly = false;  ///< whether combining takes longer than copying; the same on all ranks
    /// If this is not empty, an allreduce's vector lies in these parts, one after the other;
    /// `input` and `output` are not used then. The reducer takes elements one by one.
    std::span<const VectorPart> parts = {};

    std::size_t bytes() const { return count * reducer.element_bytes; }
    bool wants_result() const { return output != nullptr || !parts.empty(); }
    /// Calls run(input, output, first, elems) for each stretch of these elements that lies in one
    /// piece of memory; `first` counts from `begin`.
    template <class Run>
    void for_stretches(std::size_t begin, std::size_t elems, Run&& run) const;
};

template <class Run>
void OneHostCall::for_stretches(std::size_t begin, std::size_t elems, Run&& run) const {
    const std::size_t elem_bytes = reducer.element_bytes;
    if (parts.empty()) {
        auto* const out = static_cast<std::byte*>(output);
        run(static_cast<const std::byte*>(input) + begin * elem_bytes,
            out != nullptr ? out + begin * elem_bytes : nullptr, std::size_t{0}, elems);
        return;
    }
    const VectorPart* part = &part_with(parts, static_cast<std::int64_t>(begin));
    for (std::size_t done = 0; done < elems; ++part) {
        const std::size_t at = begin + done;
        const bool is_last = part == &parts.back();
        const std::size_t end = is_last ? count : static_cast<std::size_t>(part[1].begin_elem);
        const std::size_t taken = std::min(end - at, elems - done);
        const std::size_t offset = (at - static_cast<std::size_t>(part->begin_elem)) * elem_bytes;
        run(part->input + offset, part->output + offset, done, taken);
        done += taken;
    }
}

/// CallBlocks cuts a vector into blocks of equal size but for the last, of whole cache lines for
/// each of `pieces`. There is at least one block, which may be empty. There are as few blocks as
/// `block_bytes` allows, and these are as even as can be.
class CallBlocks {
  public:
    CallBlocks(const OneHostCall& call, std::size_t block_bytes, int pieces)
        : elem_bytes_(call.reducer.element_bytes), total_elems_(call.count) {
        const auto ranks = static_cast<std::size_t>(pieces);
        const std::size_t line_elems =
            std::max({std::size_t{1}, line_bytes / elem_bytes_, call.reducer.together_elems});
        const std::size_t most = std::max<std::size_t>(
            line_elems, block_bytes / ranks / elem_bytes_ / line_elems * line_elems);
        const std::size_t wanted = std::max<std::size_t>(1, divided_up(call.count, most * ranks));
        piece_elems_ =
            std::min(most, rounded_up(divided_up(call.count, wanted * ranks), line_elems));
        piece_elems_ = std::max(piece_elems_, line_elems);
        block_elems_ = piece_elems_ * ranks;
        count_ = std::max<std::size_t>(1, divided_up(call.count, block_elems_));
    }

    std::size_t count() const { return count_; }
    /// Returns the first element of a block.
    std::size_t begin(std::size_t block) const { return block * block_elems_; }
    std::size_t elems(std::size_t block) const {
        return std::min(block_elems_, total_elems_ - begin(block));
    }
    std::size_t bytes(std::size_t block) const { return elems(block) * elem_bytes_; }

    /// Returns the first element of a rank's piece, counted from the begin of the block. It lies
    /// there in the slots of ranks, too.
    std::size_t piece_begin(std::size_t block, int rank) const {
        return std::min(static_cast<std::size_t>(rank) * piece_elems_, elems(block));
    }
    std::size_t piece_elems(std::size_t block, int rank) const {
        return piece_begin(block, rank + 1) - piece_begin(block, rank);
    }

  private:
    static constexpr std::size_t line_bytes = 64;

    std::size_t elem_bytes_;
    std::size_t total_elems_;
    std::size_t piece_elems_;
    std::size_t block_elems_;
    std::size_t count_;
};

/// OneHostChoices says when each way is taken. It is the same on all ranks.
struct OneHostChoices {
    SegmentSizes sizes;
    int flat_ranks = 8;              ///< most ranks of which everybody reads everybody
    std::size_t flat_max_bytes = 0;  ///< each rank combines a share of longer vectors
    /// For costly calls, and for allreduces of two ranks, this takes the place of flat_max_bytes if
    /// it is lower.
    std::size_t early_split_bytes = SIZE_MAX;
    std::size_t stream_min_bytes = 0;  ///< smallest split result that goes past the caches

    bool operator==(const OneHostChoices&) const = default;
    /// Returns what was measured best (docs/benchmarks.md), with at most `bytes_a_rank` of shared
    /// memory for each rank. It is more if the smallest blocks, of a cache line for every rank,
    /// need more.
    static OneHostChoices fitting(int rank_count, std::size_t bytes_a_rank);
    /// Returns the same choices with smaller blocks, as far as there can be.
    OneHostChoices with_blocks_of(int rank_count, std::size_t bytes) const;
};

/// A OneHostAllreduce chooses one of these ways by ranks and bytes:
/// - flat: everybody copies in all and combines all, one announcement a block; short vectors lie
///   beside the flag.
/// - tree: for short vectors of many ranks; each inner rank combines its children's, and rank 0's
///   result is read by all.
/// - split: blocks are cut in a piece for each rank, which combines it from all and offers the
///   result to all; three blocks are under way at a time, so that waiting is hidden. Each of two
///   ranks puts its result where it found the other's part: that is in its cache, and the other
///   one, who reads it there, finds it near when it writes there again
///   (docs/decisions/056-results-in-place.md).
/// Everybody combines in rank order (tree: by groups in rank order), so all ranks have the same
/// bits. Source: reduce-scatter and allgather through shared memory, as in Graham and Shipman, "MPI
/// support for multi-core architectures" (EuroPVM/MPI 2008); flags beside data and fixed slots are
/// our own.
///
/// Used by one thread at a time. Allocates only when made. Takes no lock; makes system calls only
/// while it waits for long.
class OneHostAllreduce final : public Startable {
  public:
    /// The group must outlive it, and be used by nobody else.
    OneHostAllreduce(SegmentGroup& group, const OneHostChoices& choices);

    /// Errors: invalid_argument, on all ranks, if signatures differ; the output is then
    /// unspecified.
    Status run(const OneHostCall& call);
    /// Begins a call that nobody waits for, on all ranks.
    Startable& start(const OneHostCall& call);
    /// Returns whether a vector of `bytes` needs more than
    /// SegmentGroup::inline_bytes_a_rank(), if the call is waited for, or if it is started.
    bool uses_blocks(std::size_t bytes) const;
    bool uses_blocks_if_started(std::size_t bytes) const {
        return uses_blocks(bytes) || !has_flat_ranks();
    }
    /// Returns how large blocks such a call has use for; SIZE_MAX if it takes turns between places
    /// of a block, and so wants all of it.
    std::size_t wanted_block_bytes(std::size_t bytes) const;

  private:
    Status flat_inline(const OneHostCall& call);
    void copy_in(const OneHostCall& call, std::size_t begin, std::size_t elems, std::byte* slot,
                 PieceStores& stores) const;
    template <class SlotOf>
    void combine(const OneHostCall& call, std::size_t begin, std::size_t elems, SlotOf slot_of,
                 PieceStores& stores);
    Status combine_inline(const OneHostCall& call, PieceStores& stores);
    Status tree(const OneHostCall& call);
    Steps steps_of_started() override;
    Steps started_flat_inline(OneHostCall call);
    Steps flat_in_blocks(OneHostCall call);
    Steps split(OneHostCall call);
    Steps in_blocks(const OneHostCall& call) {
        return is_flat(call) ? flat_in_blocks(call) : split(call);
    }

    void copy_pieces_in(const OneHostCall& call, const CallBlocks& blocks, std::size_t block,
                        PieceStores& stores);
    void combine_piece(const OneHostCall& call, const CallBlocks& blocks, std::size_t block,
                       PieceStores& stores);
    std::byte* result_of(int rank, const OneHostCall& call, const CallBlocks& blocks,
                         std::size_t block) const;
    void copy_result_out(const OneHostCall& call, const CallBlocks& blocks, std::size_t block,
                         int rank);
    void copy_results_out(const OneHostCall& call, const CallBlocks& blocks, std::size_t block);
    std::size_t split_block_bytes(std::size_t bytes) const;
    /// Returns whether each rank combines all.
    bool is_flat(const OneHostCall& call) const;
    bool has_flat_ranks() const { return group_.rank_count() <= choices_.flat_ranks; }
    bool are_two() const { return group_.rank_count() == 2; }
    /// Returns whether results go past the caches.
    bool streams(const OneHostCall& call) const;
    using Sources = std::vector<const void*>;
    /// Returns what to combine: slot_of(rank) of every other rank, and this one's input, which is
    /// in a nearer cache.
    template <class SlotOf>
    const Sources& sources_at(SlotOf slot_of, const void* mine) {
        for (int rank = 0; rank < group_.rank_count(); ++rank)
            sources_[static_cast<std::size_t>(rank)] = rank == group_.rank() ? mine : slot_of(rank);
        return sources_;
    }

    OneHostChoices choices_;
    Sources sources_;  ///< one per rank
    OneHostCall started_;
};

}  // namespace gradcoll
