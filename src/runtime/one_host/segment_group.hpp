// runtime/one_host/segment_group.hpp - the ranks of one host around their shared segment: who has
// written what for the current call, and waiting for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/round.hpp"
#include "base/status.hpp"
#include "memory/store_choice.hpp"
#include "runtime/one_host/pieces.hpp"
#include "runtime/one_host/step_watch.hpp"
#include "transport/shm/waiter.hpp"

namespace gradcoll {

/// SegmentSizes says how large the parts of a rank's shared memory are. It is the same on all
/// ranks.
struct SegmentSizes {
    std::size_t inline_bytes = 0;  ///< vectors up to this travel beside their flag, or nearly so
    std::size_t block_bytes = 0;  ///< longer ones travel in blocks of at most this, several at once

    bool operator==(const SegmentSizes&) const = default;
};

/// WaitedInVain is thrown by waits for ranks that will not come so far, because one has died. What
/// the call has written is then unspecified, and the group is of no more use.
struct WaitedInVain {};

/// Waits says what a rank does before it ends a call. It is the same on all ranks.
enum class Waits : std::uint8_t {
    for_all,  ///< waits until all others have begun it
    one_way   ///< some ranks only give, and may run ahead: a broadcast's root, a reduction's givers
};

/// SegmentGroup is one rank's view of the segment. For every call, each rank has a number of steps
/// that it announces one after the other in one word; others wait for a step of that word. Calls
/// take turns between a few heads, each a word with the inline slot behind it. Every rank announces
/// a step of every call, whoever waits for it: who begins a call has ended the one before, so
/// whoever has seen all ranks begin a call may write to the heads of the calls before. A rank that
/// waits for nobody (the root of a broadcast) runs ahead until the heads are used up; then
/// begin_call() waits until all have ended the older half of those calls
/// (docs/decisions/018-more-collectives.md). There are fewer wide inline slots, for longer vectors,
/// than heads: two where everybody waits for everybody, so that they stay in the nearest cache, and
/// four where ranks run ahead. Block slots are used round and round by one block after another, of
/// one call or of several.
///
/// Used by one thread at a time. All ranks make the same calls in the same order.
class SegmentGroup {
  public:
    /// This is the first step.
    static constexpr std::uint32_t begun = 1;
    /// A rank can have begun this many calls while others still read what it wrote for the first
    /// one: `heads` if it wrote nothing but into narrow inline slots, wide_slots() if into wide
    /// ones.
    static constexpr std::uint64_t heads = 16;
    static constexpr std::uint64_t wide_slots(Waits waits) {
        return waits == Waits::for_all ? 2 : 4;
    }
    /// A narrow slot holds the rest of a head, whose word and signature share its first line.
    static constexpr std::size_t head_bytes = 512;
    static constexpr std::size_t narrow_bytes = head_bytes - 2 * sizeof(std::uint64_t);
    /// A rank can have this many blocks under way in one call.
    static constexpr std::size_t block_slots = 4;
    /// What ranks write lies on pages of its own.
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::size_t whole_pages(std::size_t bytes) {
        return rounded_up(bytes, page_bytes);
    }

    static std::size_t bytes_a_rank(int rank_count, const SegmentSizes& sizes);
    /// Returns the size of the first parts, which are all that vectors of `inline_bytes` and less
    /// need.
    static std::size_t inline_bytes_a_rank(const SegmentSizes& sizes);

    /// Extent is a piece of a rank's part.
    struct Extent {
        std::size_t offset = 0;
        std::size_t size_bytes = 0;
    };
    using BlockExtents = std::array<Extent, 2 * block_slots>;
    /// Returns where blocks of `block_bytes` lie in a rank's part, in whole pages.
    BlockExtents extents_of_blocks(std::size_t block_bytes) const;

    /// `segment` consists of rank_count parts of bytes_a_rank(). It is all zero when the first rank
    /// begins, and lives as long as this object.
    SegmentGroup(std::byte* segment, int rank, int rank_count, const SegmentSizes& sizes,
                 const Waiter& waiter);

    int rank() const { return rank_; }
    int rank_count() const { return rank_count_; }
    const SegmentSizes& sizes() const { return sizes_; }
    /// Sets what knows of ranks that have died, and what says what waits are for; null for nothing.
    /// Where the first is set, functions that wait throw WaitedInVain.
    void heed(PeerWatch* peers, const Awaited* awaited = nullptr) { waiter_.heed(peers, awaited); }
    /// Returns whether a wait was in vain. From then on all are that would take long.
    bool has_waited_in_vain() const { return waited_in_vain_; }
    /// Says that a call that was not waited for was in vain.
    void give_up() { waited_in_vain_ = true; }
    /// Sets who is told of steps; null for nobody any more.
    void be_watched_by(StepWatch* watch) { watch_ = watch; }
    /// Sets how large blocks are from the next call on, the same on all ranks: at least a cache
    /// line for each rank, and at most (as they are first) the block_bytes of sizes().
    void use_blocks_of(std::size_t bytes) { block_bytes_ = std::min(bytes, sizes_.block_bytes); }
    std::size_t block_bytes() const { return block_bytes_; }
    /// Returns a number that is the same on ranks that have made the same calls.
    std::uint64_t state() const;

    /// Begins the next call. `signature` stands for what all ranks must have alike (kind, count,
    /// type, op, root). `inline_bytes` is how much they may write into their inline slots, which is
    /// alike, too. Waits if somebody may still read what this rank wrote into the slot that comes
    /// now.
    void begin_call(std::uint64_t signature, std::size_t inline_bytes, Waits waits) {
        ++call_;
        if (watch_ != nullptr) watch_->begins();
        const bool wide = inline_bytes > narrow_bytes;
        const std::uint64_t window = window_of(inline_bytes, waits);
        if (call_ - ended_by_all_ > window) catch_up(window);
        inline_offset_ = wide ? wide_offset(waits) : narrow_offset(call_ % heads);
        signature_ = signature;
    }
    /// Returns whether begin_call() would not wait.
    bool may_begin_call(std::size_t inline_bytes, Waits waits) const;
    /// Says that everything written before is there. Steps of a call count from 1, which every rank
    /// announces in every call.
    void announce(std::uint32_t step);
    /// Waits until the rank has announced the step of this call.
    void wait_for(int rank, std::uint32_t step) const;
    /// Waits until all other ranks have.
    void wait_for_all(std::uint32_t step);
    /// Returns whether wait_for_all() would not wait; then it need not be called.
    bool all_have_come_to(std::uint32_t step);
    bool has_come_to(int rank, std::uint32_t step) const;
    /// Returns the other ranks that have not come further in this call than that one.
    std::vector<int> no_further_than(int rank) const;
    /// Returns the rank that has come least far, of the others.
    int last() const;
    /// Takes note that the caller has learnt, without waiting for all, that all ranks have begun
    /// this call.
    void note_all_have_begun() { ended_by_all_ = call_ - 1; }
    /// Returns whether a rank that has announced a step made the same call.
    bool is_alike(int rank) const;
    /// Returns ok if all ranks made the same call; ask after the first wait. Errors:
    /// invalid_argument naming the first rank that made another call.
    Status check_alike() const;
    /// Returns what is different about a rank's call, as an error: peer_failed if that rank refused
    /// the call.
    Status difference_from(int rank) const;
    /// Returns the signature of a call that a rank begins instead of the one that it cannot take
    /// part in.
    static constexpr std::uint64_t refusal_signature(Code reason) {
        return refusal_mark | static_cast<std::uint64_t>(reason);
    }
    /// Does what check_alike() does, and leaves the call if the ranks differ.
    Status check_alike_or_leave();
    /// Ends the call before its last step: nobody waits for this rank any more, and no blocks are
    /// counted. If the call has blocks, every rank must end so.
    void leave();
    /// Returns whether a rank that has announced a step has left the call.
    bool has_left(int rank) const;

    /// Must be called before a block is written. Blocks 0 and 1 may then be written at once, later
    /// ones after all ranks have begun the call.
    void begin_blocks() {
        if (may_have_readers()) wait_for_readers();
    }
    /// Returns whether begin_blocks() would not wait; then it need not be called.
    bool blocks_are_free();
    /// Ends the blocks of this call: those of the next one begin where they ended. All ranks have
    /// waited for all others' blocks.
    void end_blocks(std::size_t count) {
        lap_ += (first_slot_ + count) / block_slots;
        first_slot_ = (first_slot_ + count) % block_slots;
    }
    /// Ends the blocks of a call in which some rank ends without having waited for those who read
    /// its blocks. All ranks have begun the call. Announces its last step.
    void end_unread_blocks(std::size_t count);

    /// Copies into slots of this rank, in the way that others get it soonest as far as is known.
    void copy_in(void* slot, const void* from, std::size_t size_bytes);
    /// Returns how a piece of at least least_chosen_bytes is written. All ranks ask for the same
    /// pieces.
    StoreChoice& stores_for(std::size_t size_bytes) {
        return size_bytes <= sizes_.inline_bytes ? inline_stores_ : block_stores_;
    }
    /// Ways to store are compared from this size on: shorter copies are over before stores past the
    /// caches have begun to pay.
    static constexpr std::size_t least_chosen_bytes = 2 << 10;

    /// Returns the slot of the current call; it has as many bytes as the call said, beside the word
    /// if narrow.
    std::byte* inline_slot(int rank) const { return part(rank) + inline_offset_; }
    /// Returns the slot of a block of the current call, which has block_bytes().
    std::byte* block_slot(int rank, std::size_t block) const;
    /// Returns where a piece of the current call lies: short vectors take turns between several
    /// places in a block. They may need all memory of a block, however short they are.
    std::byte* piece_slot(int rank, const Pieces& pieces, std::size_t piece) const {
        const std::size_t place = pieces.span_bytes() * (lap_ % pieces.places());
        return block_slot(rank, pieces.block(piece)) + place + pieces.offset_in_block(piece);
    }
    /// Returns the room for one of rank_count equal pieces of the block, rounded up to cache lines.
    std::byte* result_slot(int rank, std::size_t block) const;

  private:
    static constexpr std::uint64_t refusal_mark = 0x7265'6675'7361'6c00;
    struct Head;
    Head& head(int rank) const;
    Sleepers& sleepers(int rank) const;
    Head& head(int rank, std::uint64_t call) const;
    static constexpr std::uint64_t window_of(std::size_t inline_bytes, Waits waits) {
        return inline_bytes > narrow_bytes ? wide_slots(waits) : heads;
    }
    void catch_up(std::uint64_t window);
    bool may_have_readers() const {
        return unread_blocks_ > block_slots - 2 && unread_call_ > ended_by_all_;
    }
    void wait_for_readers();
    bool have_all_come_in(std::uint64_t call, std::uint32_t step) const;
    void wait_for_all_in(std::uint64_t call, std::uint32_t step) const;
    void wait_for_in(std::uint64_t call, int rank, std::uint32_t step) const;
    /// Returns where a head lies. Heads of calls that follow each other lie on different pages,
    /// else caches fetch one in advance while it is being written, and at different places there,
    /// or they would all want the same few lines of a cache.
    static constexpr std::size_t head_offset(std::uint64_t head) {
        const std::uint64_t page = head % head_pages;
        const std::uint64_t place =
            page + head / head_pages * (head_pages * page_bytes / head_bytes / heads);
        return page_bytes + page * page_bytes + place * head_bytes % page_bytes;
    }
    static constexpr std::uint64_t head_pages = heads / 4;
    static constexpr std::size_t narrow_offset(std::uint64_t head) {
        return head_offset(head) + 2 * sizeof(std::uint64_t);
    }
    std::size_t wide_offset(Waits waits) const {
        const std::uint64_t first = waits == Waits::for_all ? 0 : wide_slots(Waits::for_all);
        return page_bytes + head_pages * page_bytes +
               (first + call_ % wide_slots(waits)) * wide_bytes_;
    }
    std::byte* part(int rank) const {
        return segment_ + static_cast<std::size_t>(rank) * part_bytes_;
    }
    std::uint64_t word_value(std::uint32_t step) const { return word_value(call_, step); }
    static std::uint64_t word_value(std::uint64_t call, std::uint32_t step) {
        return call << step_bits | step;
    }

    static constexpr int step_bits = 24;
    static constexpr std::uint32_t left_step = (1U << step_bits) - 1;
    static constexpr std::uint32_t last_step = left_step - 1;

    std::byte* segment_;
    int rank_;
    int rank_count_;
    SegmentSizes sizes_;
    std::size_t wide_bytes_;
    std::size_t blocks_offset_;
    std::size_t block_bytes_;
    std::size_t block_stride_;
    std::size_t result_stride_;
    std::size_t part_bytes_;
    Waiter waiter_;
    StepWatch* watch_ = nullptr;
    mutable bool waited_in_vain_ = false;
    std::uint64_t call_ = 0;
    std::uint64_t signature_ = 0;  ///< signature of the current call
    std::size_t inline_offset_ = 0;
    std::uint64_t ended_by_all_ = 0;  ///< this call and those before are over on all ranks
    std::size_t first_slot_ = 0;
    std::size_t lap_ = 0;  ///< how often the slots have been gone through
    StoreChoice inline_stores_;
    StoreChoice block_stores_;
    // These are of the last call that ended with end_unread_blocks().
    std::uint64_t unread_call_ = 0;
    std::size_t unread_blocks_ = 0;
};

}  // namespace gradcoll
