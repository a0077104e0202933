#include "runtime/one_host/allgather.hpp"

#include "memory/copy.hpp"

namespace gradcoll {
namespace {

std::byte* block_in(const OneHostAllgatherCall& call, int rank) {
    return static_cast<std::byte*>(call.output) + call.block_bytes * static_cast<std::size_t>(rank);
}

}  // namespace

Status OneHostAllgather::run(const OneHostAllgatherCall& call) {
    group_.begin_call(call.signature, uses_blocks(call.block_bytes) ? 0 : call.block_bytes,
                      Waits::for_all);
    return uses_blocks(call.block_bytes) ? in_pieces(call) : beside_flag(call);
}

void OneHostAllgather::copy_own(const OneHostAllgatherCall& call, std::size_t offset,
                                std::size_t size_bytes) {
    std::byte* const to = block_in(call, group_.rank());
    if (to == call.input) return;
    copy_bytes(to + offset, static_cast<const std::byte*>(call.input) + offset, size_bytes);
}

Status OneHostAllgather::beside_flag(const OneHostAllgatherCall& call) {
    const int mine = group_.rank();
    group_.copy_in(group_.inline_slot(mine), call.input, call.block_bytes);
    group_.announce(1);
    copy_own(call, 0, call.block_bytes);
    group_.wait_for_all(1);
    GRADCOLL_TRY(group_.check_alike_or_leave());
    for (int rank = 0; rank < group_.rank_count(); ++rank)
        if (rank != mine)
            copy_bytes(block_in(call, rank), group_.inline_slot(rank), call.block_bytes);
    return {};
}

/// Copies the other ranks' blocks out, beginning with the next rank's: so ranks do not all read
/// from the same one at a time.
void OneHostAllgather::copy_piece_out(const OneHostAllgatherCall& call, const Pieces& pieces,
                                      std::size_t piece) {
    for (int i = 1; i < group_.rank_count(); ++i) {
        const int rank = (group_.rank() + i) % group_.rank_count();
        copy_bytes(block_in(call, rank) + pieces.offset(piece),
                   group_.piece_slot(rank, pieces, piece), pieces.bytes(piece));
    }
    copy_own(call, pieces.offset(piece), pieces.bytes(piece));
}

/// Sends the blocks in pieces. A slot is written again after four blocks, which are as many pieces
/// or more: whoever has announced the last but one of them has copied the first one out.
Status OneHostAllgather::in_pieces(const OneHostAllgatherCall& call) {
    const Pieces pieces(call.block_bytes, 1, piece_bytes_, group_.block_bytes());
    const auto* const from = static_cast<const std::byte*>(call.input);
    group_.begin_blocks();
    for (std::size_t piece = 0; piece <= pieces.count(); ++piece) {
        if (piece < pieces.count()) {
            group_.copy_in(group_.piece_slot(group_.rank(), pieces, piece),
                           from + pieces.offset(piece), pieces.bytes(piece));
            group_.announce(static_cast<std::uint32_t>(piece + 1));
        }
        if (piece == 0) continue;
        group_.wait_for_all(static_cast<std::uint32_t>(piece));
        if (piece == 1) GRADCOLL_TRY(group_.check_alike_or_leave());
        copy_piece_out(call, pieces, piece - 1);
    }
    group_.end_blocks(pieces.blocks());
    return {};
}

}  // namespace gradcoll
