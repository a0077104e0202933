// runtime/one_host/allreduce.cpp - the choice, and the ways in which everybody reads everybody.
#include "runtime/one_host/allreduce.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/copy.hpp"
#include "reduce/reducer.hpp"
#include "runtime/one_host/piece_stores.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t usual_inline_bytes = 2 * SegmentGroup::page_bytes;
/// Blocks are at most this large, so that all slots of a rank fit into a second-level cache.
constexpr std::size_t most_block_bytes = 256 << 10;

/// Returns the size of a block with a cache line for every rank.
std::size_t least_block_bytes(int rank_count) {
    return SegmentGroup::whole_pages(static_cast<std::size_t>(rank_count) * 64);
}

/// Returns the largest block with which bytes_a_rank() stays within the limit.
std::size_t block_bytes_within(int rank_count, std::size_t limit) {
    SegmentSizes sizes{usual_inline_bytes, most_block_bytes};
    while (sizes.block_bytes > least_block_bytes(rank_count) &&
           SegmentGroup::bytes_a_rank(rank_count, sizes) > limit)
        sizes.block_bytes -= SegmentGroup::page_bytes;
    return sizes.block_bytes;
}

/// Returns the size of a piece of a vector that everybody copies in as a whole. Long ones gain from
/// fewer announcements.
std::size_t flat_piece_bytes(std::size_t bytes) {
    return bytes <= (std::size_t{256} << 10) ? std::size_t{64} << 10 : most_block_bytes;
}

/// Returns the size of a block of which each of two ranks combines a half. There are two at least,
/// so that copies are beside one another, and four of the longest are at work at a time, which
/// leave room for inputs and results in a second-level cache.
std::size_t most_bytes_of_two(std::size_t bytes) {
    const std::size_t half = divided_up(bytes, std::size_t{2});
    return std::min(rounded_up(half, std::size_t{128}), std::size_t{64} << 10);
}

}  // namespace

OneHostChoices OneHostChoices::fitting(int rank_count, std::size_t bytes_a_rank) {
    OneHostChoices choices;
    choices.sizes = {usual_inline_bytes, block_bytes_within(rank_count, bytes_a_rank)};
    choices.flat_max_bytes = rank_count == 2 ? SIZE_MAX : 16 << 10;
    choices.early_split_bytes = 8 << 10;
    choices.stream_min_bytes = 2 << 20;
    return choices;
}

OneHostChoices OneHostChoices::with_blocks_of(int rank_count, std::size_t bytes) const {
    OneHostChoices choices = *this;
    choices.sizes.block_bytes =
        std::clamp(bytes, least_block_bytes(rank_count),
                   std::max(sizes.block_bytes, least_block_bytes(rank_count)));
    return choices;
}

OneHostAllreduce::OneHostAllreduce(SegmentGroup& group, const OneHostChoices& choices)
    : Startable(group), choices_(choices), sources_(static_cast<std::size_t>(group.rank_count())) {}

Status OneHostAllreduce::run(const OneHostCall& call) {
    const std::size_t bytes = call.bytes();
    group_.begin_call(call.signature, uses_blocks(bytes) ? 0 : bytes, Waits::for_all);
    const bool combines_parts = !has_flat_ranks() && call.reducer.together_elems == 1;
    if (!uses_blocks(bytes)) return combines_parts ? tree(call) : flat_inline(call);
    return in_blocks(call).outcome();  // it stops nowhere
}

Startable& OneHostAllreduce::start(const OneHostCall& call) {
    started_ = call;
    const bool in_slots = uses_blocks_if_started(call.bytes());
    return Startable::start({call.signature, in_slots ? 0 : call.bytes(), Waits::for_all});
}

/// Returns the steps of the started call. Short vectors of many ranks have no steps of their own:
/// they go in blocks, as long ones do.
Steps OneHostAllreduce::steps_of_started() {
    return uses_blocks_if_started(started_.bytes()) ? in_blocks(started_)
                                                    : started_flat_inline(started_);
}

bool OneHostAllreduce::is_flat(const OneHostCall& call) const {
    const std::size_t most = call.costly || are_two() ? choices_.early_split_bytes : SIZE_MAX;
    return has_flat_ranks() && call.bytes() <= std::min(most, choices_.flat_max_bytes);
}

bool OneHostAllreduce::uses_blocks(std::size_t bytes) const {
    return bytes > choices_.sizes.inline_bytes ||
           (has_flat_ranks() && bytes > choices_.flat_max_bytes);
}

std::size_t OneHostAllreduce::wanted_block_bytes(std::size_t bytes) const {
    if (are_two() && bytes > choices_.early_split_bytes) return most_bytes_of_two(bytes);
    return has_flat_ranks() && bytes <= choices_.flat_max_bytes ? SIZE_MAX : bytes;
}

std::size_t OneHostAllreduce::split_block_bytes(std::size_t bytes) const {
    return are_two() ? std::min(group_.block_bytes(), most_bytes_of_two(bytes))
                     : group_.block_bytes();
}

bool OneHostAllreduce::streams(const OneHostCall& call) const {
    return call.bytes() >= choices_.stream_min_bytes;
}

/// Copies these elements into a slot of this rank.
void OneHostAllreduce::copy_in(const OneHostCall& call, std::size_t begin, std::size_t elems,
                               std::byte* slot, PieceStores& stores) const {
    const std::size_t elem_bytes = call.reducer.element_bytes;
    call.for_stretches(begin, elems,
                       [&](const std::byte* input, std::byte*, std::size_t first, std::size_t run) {
                           stores.copy_in(slot + first * elem_bytes, input, run * elem_bytes);
                       });
}

/// Combines these elements, of which slot_of(rank) has those of every other rank.
template <class SlotOf>
void OneHostAllreduce::combine(const OneHostCall& call, std::size_t begin, std::size_t elems,
                               SlotOf slot_of, PieceStores& stores) {
    const auto combine_stretch = [&](const std::byte* input, std::byte* output, std::size_t first,
                                     std::size_t run) {
        const std::size_t offset = first * call.reducer.element_bytes;
        const Sources& sources =
            sources_at([&](int rank) { return slot_of(rank) + offset; }, input);
        reduce_many(call.reducer, sources, output, run, false);
    };
    stores.timed([&] { call.for_stretches(begin, elems, combine_stretch); });
    stores.end();
}

Status OneHostAllreduce::flat_inline(const OneHostCall& call) {
    PieceStores stores(group_, call.bytes());
    copy_in(call, 0, call.count, group_.inline_slot(group_.rank()), stores);
    group_.announce(1);
    group_.wait_for_all(1);
    return combine_inline(call, stores);
}

Steps OneHostAllreduce::started_flat_inline(OneHostCall call) {
    PieceStores stores(group_, call.bytes());
    copy_in(call, 0, call.count, group_.inline_slot(group_.rank()), stores);
    group_.announce(1);
    co_await all_at(1);
    co_return combine_inline(call, stores);
}

Status OneHostAllreduce::combine_inline(const OneHostCall& call, PieceStores& stores) {
    GRADCOLL_TRY(group_.check_alike_or_leave());
    combine(
        call, 0, call.count, [this](int rank) { return group_.inline_slot(rank); }, stores);
    return {};
}

/// Copies and combines piece by piece. The next piece is copied in before this one is waited for,
/// so that nobody waits for a copy. The sums stay in the caches: past them, beside reads of what
/// another core has just written, they took three times as long.
Steps OneHostAllreduce::flat_in_blocks(OneHostCall call) {
    const Pieces pieces(call.count, call.reducer.element_bytes, flat_piece_bytes(call.bytes()),
                        group_.block_bytes(), call.reducer.together_elems);
    PieceStores stores;
    PieceStores next;
    co_await blocks_free();
    for (std::size_t piece = 0; piece <= pieces.count(); ++piece) {
        stores = next;
        if (piece < pieces.count()) {
            next = PieceStores(group_, pieces.bytes(piece));
            copy_in(call, pieces.begin(piece), pieces.elems(piece),
                    group_.piece_slot(group_.rank(), pieces, piece), next);
            group_.announce(static_cast<std::uint32_t>(piece + 1));
        }
        if (piece == 0) continue;
        const std::size_t ready = piece - 1;
        co_await all_at(static_cast<std::uint32_t>(piece));
        if (ready == 0)
            if (Status status = group_.check_alike_or_leave(); !status.ok()) co_return status;
        combine(
            call, pieces.begin(ready), pieces.elems(ready),
            [&](int rank) { return group_.piece_slot(rank, pieces, ready); }, stores);
    }
    group_.end_blocks(pieces.blocks());
    co_return Status();
}

}  // namespace gradcoll
