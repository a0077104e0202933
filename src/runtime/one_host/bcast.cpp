#include "runtime/one_host/bcast.hpp"

#include "memory/copy.hpp"
#include "runtime/one_host/pieces.hpp"

namespace gradcoll {
namespace {

/// At which the root has written the piece, and at which another rank has read it.
std::uint32_t step_of(std::size_t piece) {
    return SegmentGroup::begun + 1 + static_cast<std::uint32_t>(piece);
}

}  // namespace

Status OneHostBcast::run(const OneHostBcastCall& call) {
    const bool sends = group_.rank() == call.root;
    group_.begin_call(call.signature, uses_blocks(call.size_bytes) ? 0 : call.size_bytes,
                      Waits::one_way);
    if (!uses_blocks(call.size_bytes))
        return sends ? send_beside_flag(call) : receive_beside_flag(call);
    return sends ? send_pieces(call) : receive_pieces(call);
}

Status OneHostBcast::check_like_root(int root) {
    if (group_.is_alike(root) && !group_.has_left(root)) return {};
    group_.leave();
    return group_.difference_from(root);
}

Status OneHostBcast::send_beside_flag(const OneHostBcastCall& call) {
    group_.copy_in(group_.inline_slot(call.root), call.data, call.size_bytes);
    group_.announce(SegmentGroup::begun);
    return {};
}

/// Announces before it waits: a rank that waits for this one in another call learns that.
Status OneHostBcast::receive_beside_flag(const OneHostBcastCall& call) {
    group_.announce(SegmentGroup::begun);
    group_.wait_for(call.root, SegmentGroup::begun);
    GRADCOLL_TRY(check_like_root(call.root));
    copy_bytes(call.data, group_.inline_slot(call.root), call.size_bytes);
    return {};
}

/// The first piece is written while the others arrive. The root alone compares all ranks, and the
/// others go by what it found: so all of them count the same blocks.
Status OneHostBcast::send_pieces(const OneHostBcastCall& call) {
    const Pieces pieces(call.size_bytes, 1, piece_bytes_, group_.block_bytes());
    const auto* const from = static_cast<const std::byte*>(call.data);
    group_.begin_blocks();
    group_.copy_in(group_.piece_slot(call.root, pieces, 0), from, pieces.bytes(0));
    group_.announce(SegmentGroup::begun);
    group_.wait_for_all(SegmentGroup::begun);
    GRADCOLL_TRY(group_.check_alike_or_leave());
    group_.announce(step_of(0));
    for (std::size_t piece = 1; piece < pieces.count(); ++piece) {
        if (const auto read = pieces.overwritten(piece, SegmentGroup::block_slots))
            group_.wait_for_all(step_of(*read));
        group_.copy_in(group_.piece_slot(call.root, pieces, piece), from + pieces.offset(piece),
                       pieces.bytes(piece));
        group_.announce(step_of(piece));
    }
    group_.end_unread_blocks(pieces.blocks());
    return {};
}

/// Looks at the root twice: one that made another call may announce no second step.
Status OneHostBcast::receive_pieces(const OneHostBcastCall& call) {
    const Pieces pieces(call.size_bytes, 1, piece_bytes_, group_.block_bytes());
    auto* const to = static_cast<std::byte*>(call.data);
    group_.announce(SegmentGroup::begun);
    group_.wait_for(call.root, SegmentGroup::begun);
    GRADCOLL_TRY(check_like_root(call.root));
    group_.wait_for(call.root, step_of(0));
    GRADCOLL_TRY(check_like_root(call.root));
    group_.note_all_have_begun();
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
        group_.wait_for(call.root, step_of(piece));
        copy_bytes(to + pieces.offset(piece), group_.piece_slot(call.root, pieces, piece),
                   pieces.bytes(piece));
        group_.announce(step_of(piece));
    }
    group_.end_unread_blocks(pieces.blocks());
    return {};
}

}  // namespace gradcoll
