#include "runtime/one_host/reduce.hpp"

#include "memory/copy.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {
namespace {

/// Returns the step at which piece k is there. The root has combined it one step later.
std::uint32_t step_there(std::size_t piece) {
    return static_cast<std::uint32_t>(piece + 1);
}
std::uint32_t step_combined(std::size_t piece) {
    return static_cast<std::uint32_t>(piece + 2);
}

}  // namespace

OneHostReduce::OneHostReduce(SegmentGroup& group, OneHostAllreduce& allreduce,
                             const OneHostChoices& choices, std::size_t piece_bytes)
    : Startable(group),
      allreduce_(allreduce),
      choices_(choices),
      piece_bytes_(piece_bytes),
      sources_(static_cast<std::size_t>(group.rank_count())) {}

bool OneHostReduce::is_flat(const OneHostCall& call) const {
    return group_.rank_count() <= choices_.flat_ranks && call.bytes() <= choices_.flat_max_bytes;
}

bool OneHostReduce::goes_beside_flag(const OneHostCall& vector) const {
    return vector.bytes() <= choices_.sizes.inline_bytes;
}

Startable::Opening OneHostReduce::opening_of(const OneHostCall& vector) const {
    return {vector.signature, goes_beside_flag(vector) ? vector.bytes() : 0, Waits::one_way};
}

Status OneHostReduce::run(const OneHostReduceCall& call) {
    const OneHostCall& vector = call.vector;
    if (!is_flat(vector)) return allreduce_.run(vector);
    const Opening opening = opening_of(vector);
    group_.begin_call(opening.signature, opening.inline_bytes, opening.waits);
    return goes_beside_flag(vector) ? beside_flag(call) : in_pieces(call).outcome();
}

Startable& OneHostReduce::start(const OneHostReduceCall& call) {
    if (!is_flat(call.vector)) return allreduce_.start(call.vector);
    started_ = call;
    return Startable::start(opening_of(call.vector));
}

Steps OneHostReduce::steps_of_started() {
    return goes_beside_flag(started_.vector) ? started_beside_flag(started_) : in_pieces(started_);
}

template <class SlotOf>
void OneHostReduce::combine(const OneHostCall& call, const std::byte* mine, std::byte* out,
                            std::size_t count, SlotOf slot_of) {
    for (int rank = 0; rank < group_.rank_count(); ++rank)
        sources_[static_cast<std::size_t>(rank)] = rank == group_.rank() ? mine : slot_of(rank);
    reduce_many(call.reducer, sources_, out, count, false);
}

void OneHostReduce::put_beside_flag(const OneHostReduceCall& call) {
    if (gives(call))
        group_.copy_in(group_.inline_slot(group_.rank()), call.vector.input, call.vector.bytes());
    group_.announce(SegmentGroup::begun);
}

Status OneHostReduce::combine_from_flags(const OneHostCall& vector) {
    GRADCOLL_TRY(group_.check_alike_or_leave());
    combine(vector, static_cast<const std::byte*>(vector.input),
            static_cast<std::byte*>(vector.output), vector.count,
            [this](int rank) { return group_.inline_slot(rank); });
    return {};
}

Status OneHostReduce::beside_flag(const OneHostReduceCall& call) {
    put_beside_flag(call);
    if (gives(call)) return {};
    group_.wait_for_all(SegmentGroup::begun);
    return combine_from_flags(call.vector);
}

Steps OneHostReduce::started_beside_flag(OneHostReduceCall call) {
    put_beside_flag(call);
    if (gives(call)) co_return Status();
    co_await all_at(SegmentGroup::begun);
    co_return combine_from_flags(call.vector);
}

Pieces OneHostReduce::pieces_of(const OneHostCall& vector) const {
    return {vector.count, vector.reducer.element_bytes, piece_bytes_, group_.block_bytes()};
}

/// Does a long call, in which all ranks compare all, so that all count the same blocks.
Steps OneHostReduce::in_pieces(const OneHostReduceCall& call) {
    return gives(call) ? give_in_pieces(call) : combine_in_pieces(call);
}

Steps OneHostReduce::give_in_pieces(OneHostReduceCall call) {
    const Pieces pieces = pieces_of(call.vector);
    const auto* const input = static_cast<const std::byte*>(call.vector.input);
    co_await blocks_free();
    group_.copy_in(group_.piece_slot(group_.rank(), pieces, 0), input, pieces.bytes(0));
    group_.announce(SegmentGroup::begun);
    co_await all_at(SegmentGroup::begun);
    if (Status status = group_.check_alike_or_leave(); !status.ok()) co_return status;
    for (std::size_t piece = 1; piece < pieces.count(); ++piece) {
        if (const auto combined = pieces.overwritten(piece, SegmentGroup::block_slots))
            co_await rank_at(call.root, step_combined(*combined));
        group_.copy_in(group_.piece_slot(group_.rank(), pieces, piece),
                       input + pieces.offset(piece), pieces.bytes(piece));
        group_.announce(step_there(piece));
    }
    group_.end_unread_blocks(pieces.blocks());
    co_return Status();
}

Steps OneHostReduce::combine_in_pieces(OneHostReduceCall call) {
    const Pieces pieces = pieces_of(call.vector);
    const auto* const input = static_cast<const std::byte*>(call.vector.input);
    auto* const output = static_cast<std::byte*>(call.vector.output);
    co_await blocks_free();
    group_.announce(SegmentGroup::begun);
    co_await all_at(SegmentGroup::begun);
    if (Status status = group_.check_alike_or_leave(); !status.ok()) co_return status;
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
        co_await all_at(step_there(piece));
        combine(call.vector, input + pieces.offset(piece), output + pieces.offset(piece),
                pieces.elems(piece),
                [&](int rank) { return group_.piece_slot(rank, pieces, piece); });
        group_.announce(step_combined(piece));
    }
    group_.end_unread_blocks(pieces.blocks());
    co_return Status();
}

}  // namespace gradcoll
