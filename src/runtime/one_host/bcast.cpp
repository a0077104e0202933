#include "runtime/one_host/bcast.hpp"

#include "memory/copy.hpp"
#include "runtime/one_host/pieces.hpp"

namespace gradcoll {
namespace {

/// Returns the step by which the root says that it has written the piece, and another rank that it
/// has read it.
std::uint32_t step_of(std::size_t piece) {
    return SegmentGroup::begun + 1 + static_cast<std::uint32_t>(piece);
}

}  // namespace

Startable::Opening OneHostBcast::opening_of(const OneHostBcastCall& call) const {
    return {call.signature, uses_blocks(call.size_bytes) ? 0 : call.size_bytes, Waits::one_way};
}

Status OneHostBcast::run(const OneHostBcastCall& call) {
    const Opening opening = opening_of(call);
    group_.begin_call(opening.signature, opening.inline_bytes, opening.waits);
    if (uses_blocks(call.size_bytes)) return in_pieces(call).outcome();
    return sends(call) ? send_beside_flag(call) : receive_beside_flag(call);
}

Startable& OneHostBcast::start(const OneHostBcastCall& call) {
    started_ = call;
    return Startable::start(opening_of(call));
}

Steps OneHostBcast::steps_of_started() {
    return uses_blocks(started_.size_bytes) ? in_pieces(started_) : started_beside_flag(started_);
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

/// Copies the data out of the root's flag. Announces before it waits: a rank that waits for this
/// one in another call learns that.
Status OneHostBcast::receive_beside_flag(const OneHostBcastCall& call) {
    group_.announce(SegmentGroup::begun);
    group_.wait_for(call.root, SegmentGroup::begun);
    return copy_from_flag(call);
}

Steps OneHostBcast::started_beside_flag(OneHostBcastCall call) {
    if (sends(call)) co_return send_beside_flag(call);
    group_.announce(SegmentGroup::begun);
    co_await rank_at(call.root, SegmentGroup::begun);
    co_return copy_from_flag(call);
}

Status OneHostBcast::copy_from_flag(const OneHostBcastCall& call) {
    GRADCOLL_TRY(check_like_root(call.root));
    copy_bytes(call.data, group_.inline_slot(call.root), call.size_bytes);
    return {};
}

/// Sends the pieces. The first is written while the others arrive. The root alone compares all
/// ranks, and the others go by what it found: so all of them count the same blocks.
Steps OneHostBcast::send_pieces(OneHostBcastCall call) {
    const Pieces pieces(call.size_bytes, 1, piece_bytes_, group_.block_bytes());
    const auto* const from = static_cast<const std::byte*>(call.data);
    co_await blocks_free();
    group_.copy_in(group_.piece_slot(call.root, pieces, 0), from, pieces.bytes(0));
    group_.announce(SegmentGroup::begun);
    co_await all_at(SegmentGroup::begun);
    if (Status status = group_.check_alike_or_leave(); !status.ok()) co_return status;
    group_.announce(step_of(0));
    for (std::size_t piece = 1; piece < pieces.count(); ++piece) {
        if (const auto read = pieces.overwritten(piece, SegmentGroup::block_slots))
            co_await all_at(step_of(*read));
        group_.copy_in(group_.piece_slot(call.root, pieces, piece), from + pieces.offset(piece),
                       pieces.bytes(piece));
        group_.announce(step_of(piece));
    }
    group_.end_unread_blocks(pieces.blocks());
    co_return Status();
}

/// Receives the pieces. Looks at the root twice, as one that made another call may announce no
/// second step.
Steps OneHostBcast::receive_pieces(OneHostBcastCall call) {
    const Pieces pieces(call.size_bytes, 1, piece_bytes_, group_.block_bytes());
    auto* const to = static_cast<std::byte*>(call.data);
    group_.announce(SegmentGroup::begun);
    co_await rank_at(call.root, SegmentGroup::begun);
    if (Status status = check_like_root(call.root); !status.ok()) co_return status;
    co_await rank_at(call.root, step_of(0));
    if (Status status = check_like_root(call.root); !status.ok()) co_return status;
    group_.note_all_have_begun();
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
        co_await rank_at(call.root, step_of(piece));
        copy_bytes(to + pieces.offset(piece), group_.piece_slot(call.root, pieces, piece),
                   pieces.bytes(piece));
        group_.announce(step_of(piece));
    }
    group_.end_unread_blocks(pieces.blocks());
    co_return Status();
}

}  // namespace gradcoll
