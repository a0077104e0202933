#include "runtime/one_host/reduce.hpp"

#include "memory/copy.hpp"
#include "reduce/many.hpp"

namespace gradcoll {
namespace {

/// Piece k is there at step k + 1, and combined at step k + 2 of the root.
std::uint32_t step_there(std::size_t piece) {
    return static_cast<std::uint32_t>(piece + 1);
}
std::uint32_t step_combined(std::size_t piece) {
    return static_cast<std::uint32_t>(piece + 2);
}

}  // namespace

OneHostReduce::OneHostReduce(SegmentGroup& group, OneHostAllreduce& allreduce,
                             const OneHostChoices& choices, std::size_t piece_bytes)
    : group_(group),
      allreduce_(allreduce),
      choices_(choices),
      piece_bytes_(piece_bytes),
      sources_(static_cast<std::size_t>(group.rank_count())) {}

bool OneHostReduce::is_flat(const OneHostCall& call) const {
    return group_.rank_count() <= choices_.flat_ranks && call.bytes() <= choices_.flat_max_bytes;
}

Status OneHostReduce::run(const OneHostReduceCall& call) {
    const OneHostCall& vector = call.vector;
    if (!is_flat(vector)) return allreduce_.run(vector);
    const bool beside_flag = vector.bytes() <= choices_.sizes.inline_bytes;
    group_.begin_call(vector.signature, beside_flag ? vector.bytes() : 0, Waits::one_way);
    return beside_flag ? flat_beside_flag(call) : flat_in_pieces(call);
}

template <class SlotOf>
void OneHostReduce::combine(const OneHostCall& call, const std::byte* mine, std::byte* out,
                            std::size_t count, SlotOf slot_of) {
    for (int rank = 0; rank < group_.rank_count(); ++rank)
        sources_[static_cast<std::size_t>(rank)] = rank == group_.rank() ? mine : slot_of(rank);
    reduce_many(call.reducer, sources_, out, count, false);
}

Status OneHostReduce::flat_beside_flag(const OneHostReduceCall& call) {
    const OneHostCall& vector = call.vector;
    const bool gives = group_.rank() != call.root;
    if (gives) group_.copy_in(group_.inline_slot(group_.rank()), vector.input, vector.bytes());
    group_.announce(SegmentGroup::begun);
    if (gives) return {};
    group_.wait_for_all(SegmentGroup::begun);
    GRADCOLL_TRY(group_.check_alike_or_leave());
    combine(vector, static_cast<const std::byte*>(vector.input),
            static_cast<std::byte*>(vector.output), vector.count,
            [this](int rank) { return group_.inline_slot(rank); });
    return {};
}

/// All compare all, so that all count the same blocks.
Status OneHostReduce::flat_in_pieces(const OneHostReduceCall& call) {
    const OneHostCall& vector = call.vector;
    const Pieces pieces(vector.count, vector.reducer.element_bytes, piece_bytes_,
                        group_.block_bytes());
    const bool gives = group_.rank() != call.root;
    group_.begin_blocks();
    if (gives)
        group_.copy_in(group_.piece_slot(group_.rank(), pieces, 0), vector.input, pieces.bytes(0));
    group_.announce(SegmentGroup::begun);
    group_.wait_for_all(SegmentGroup::begun);
    GRADCOLL_TRY(group_.check_alike_or_leave());
    if (gives)
        give_pieces(call, pieces);
    else
        combine_pieces(call, pieces);
    group_.end_unread_blocks(pieces.blocks());
    return {};
}

void OneHostReduce::give_pieces(const OneHostReduceCall& call, const Pieces& pieces) {
    const auto* const input = static_cast<const std::byte*>(call.vector.input);
    for (std::size_t piece = 1; piece < pieces.count(); ++piece) {
        if (const auto combined = pieces.overwritten(piece, SegmentGroup::block_slots))
            group_.wait_for(call.root, step_combined(*combined));
        group_.copy_in(group_.piece_slot(group_.rank(), pieces, piece),
                       input + pieces.offset(piece), pieces.bytes(piece));
        group_.announce(step_there(piece));
    }
}

void OneHostReduce::combine_pieces(const OneHostReduceCall& call, const Pieces& pieces) {
    const auto* const input = static_cast<const std::byte*>(call.vector.input);
    auto* const output = static_cast<std::byte*>(call.vector.output);
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
        group_.wait_for_all(step_there(piece));
        combine(call.vector, input + pieces.offset(piece), output + pieces.offset(piece),
                pieces.elems(piece),
                [&](int rank) { return group_.piece_slot(rank, pieces, piece); });
        group_.announce(step_combined(piece));
    }
}

}  // namespace gradcoll
