#include "runtime/one_host/reduce_scatter.hpp"

#include <algorithm>

#include "memory/copy.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {
namespace {

/// Returns the block of a rank in a vector of all blocks.
const std::byte* block_of(const OneHostCall& call, int rank) {
    return static_cast<const std::byte*>(call.input) +
           call.bytes() * static_cast<std::size_t>(rank);
}

}  // namespace

OneHostReduceScatter::OneHostReduceScatter(SegmentGroup& group, const OneHostChoices& choices)
    : group_(group), choices_(choices), sources_(static_cast<std::size_t>(group.rank_count())) {}

Status OneHostReduceScatter::run(const OneHostCall& call) {
    group_.begin_call(call.signature, uses_blocks(call.bytes()) ? 0 : call.bytes() * ranks(),
                      Waits::for_all);
    return uses_blocks(call.bytes()) ? in_pieces(call) : beside_flag(call);
}

/// Combines elements of this rank's block, from `offset` bytes in it on.
template <class SlotOf>
void OneHostReduceScatter::combine(const OneHostCall& call, std::size_t offset, std::size_t count,
                                   SlotOf slot_of) {
    const std::byte* const mine = block_of(call, group_.rank()) + offset;
    for (int rank = 0; rank < group_.rank_count(); ++rank)
        sources_[static_cast<std::size_t>(rank)] = rank == group_.rank() ? mine : slot_of(rank);
    reduce_many(call.reducer, sources_, static_cast<std::byte*>(call.output) + offset, count,
                false);
}

Status OneHostReduceScatter::beside_flag(const OneHostCall& call) {
    const int mine = group_.rank();
    group_.copy_in(group_.inline_slot(mine), call.input, call.bytes() * ranks());
    group_.announce(1);
    group_.wait_for_all(1);
    GRADCOLL_TRY(group_.check_alike_or_leave());
    const std::size_t offset = call.bytes() * static_cast<std::size_t>(mine);
    combine(call, 0, call.count,
            [this, offset](int rank) { return group_.inline_slot(rank) + offset; });
    return {};
}

/// Copies a piece in. A slot holds a piece of every rank's block, in rank order.
void OneHostReduceScatter::copy_piece_in(const OneHostCall& call, const Pieces& pieces,
                                         std::size_t piece) {
    std::byte* to = group_.block_slot(group_.rank(), piece);
    for (int rank = 0; rank < group_.rank_count(); ++rank, to += pieces.bytes(piece))
        if (rank != group_.rank())
            group_.copy_in(to, block_of(call, rank) + pieces.offset(piece), pieces.bytes(piece));
}

void OneHostReduceScatter::combine_piece(const OneHostCall& call, const Pieces& pieces,
                                         std::size_t piece) {
    const std::size_t offset = pieces.bytes(piece) * static_cast<std::size_t>(group_.rank());
    combine(call, pieces.offset(piece), pieces.elems(piece),
            [&](int rank) { return group_.block_slot(rank, piece) + offset; });
}

/// Works in pieces as OneHostAllgather does. In place the result of a piece overwrites what has
/// been copied in.
Status OneHostReduceScatter::in_pieces(const OneHostCall& call) {
    const Pieces pieces(call.count, call.reducer.element_bytes, group_.block_bytes() / ranks(),
                        group_.block_bytes() / ranks());
    group_.begin_blocks();
    for (std::size_t piece = 0; piece <= pieces.count(); ++piece) {
        if (piece < pieces.count()) {
            copy_piece_in(call, pieces, piece);
            group_.announce(static_cast<std::uint32_t>(piece + 1));
        }
        if (piece == 0) continue;
        group_.wait_for_all(static_cast<std::uint32_t>(piece));
        if (piece == 1) GRADCOLL_TRY(group_.check_alike_or_leave());
        combine_piece(call, pieces, piece - 1);
    }
    group_.end_blocks(pieces.count());
    return {};
}

}  // namespace gradcoll
