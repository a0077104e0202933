// runtime/one_host/allreduce_split.cpp - each rank combines its piece of every block.
#include <array>

#include "memory/copy.hpp"
#include "reduce/reducer.hpp"
#include "runtime/one_host/allreduce.hpp"

namespace gradcoll {

/// Copies in what other ranks combine.
void OneHostAllreduce::copy_pieces_in(const OneHostCall& call, const CallBlocks& blocks,
                                      std::size_t block, PieceStores& stores) {
    const int mine = group_.rank();
    std::byte* const slot = group_.block_slot(mine, block);
    const std::size_t begin = blocks.piece_begin(block, mine);
    const std::size_t end = blocks.piece_begin(block, mine + 1);
    copy_in(call, blocks.begin(block), begin, slot, stores);
    copy_in(call, blocks.begin(block) + end, blocks.elems(block) - end,
            slot + end * call.reducer.element_bytes, stores);
}

/// Returns where the result of a rank's piece lies: of two ranks in the slot of the other one, over
/// what that one has copied in.
std::byte* OneHostAllreduce::result_of(int rank, const OneHostCall& call, const CallBlocks& blocks,
                                       std::size_t block) const {
    if (!are_two()) return group_.result_slot(rank, block);
    return group_.block_slot(1 - rank, block) +
           blocks.piece_begin(block, rank) * call.reducer.element_bytes;
}

void OneHostAllreduce::combine_piece(const OneHostCall& call, const CallBlocks& blocks,
                                     std::size_t block, PieceStores& stores) {
    const int mine = group_.rank();
    const std::size_t elem_bytes = call.reducer.element_bytes;
    const std::size_t begin = blocks.piece_begin(block, mine);
    std::byte* const result = result_of(mine, call, blocks, block);
    const auto combine_stretch = [&](const std::byte* input, std::byte*, std::size_t first,
                                     std::size_t elems) {
        const std::size_t offset = (begin + first) * elem_bytes;
        const Sources& sources =
            sources_at([&](int rank) { return group_.block_slot(rank, block) + offset; }, input);
        reduce_many(call.reducer, sources, result + first * elem_bytes, elems, stores.streaming());
    };
    stores.timed([&] {
        call.for_stretches(blocks.begin(block) + begin, blocks.piece_elems(block, mine),
                           combine_stretch);
    });
}

void OneHostAllreduce::copy_result_out(const OneHostCall& call, const CallBlocks& blocks,
                                       std::size_t block, int rank) {
    const bool streaming = streams(call);
    const std::size_t elem_bytes = call.reducer.element_bytes;
    const std::byte* const result = result_of(rank, call, blocks, block);
    const auto copy_stretch = [&](const std::byte*, std::byte* output, std::size_t first,
                                  std::size_t elems) {
        const std::byte* const from = result + first * elem_bytes;
        if (streaming)
            copy_streaming(output, from, elems * elem_bytes);
        else
            copy_bytes(output, from, elems * elem_bytes);
    };
    call.for_stretches(blocks.begin(block) + blocks.piece_begin(block, rank),
                       blocks.piece_elems(block, rank), copy_stretch);
}

/// Copies the others' results out, beginning behind its own piece: so ranks do not all read from
/// the same one at a time.
void OneHostAllreduce::copy_results_out(const OneHostCall& call, const CallBlocks& blocks,
                                        std::size_t block) {
    for (int i = 1; i < group_.rank_count(); ++i)
        copy_result_out(call, blocks, block, (group_.rank() + i) % group_.rank_count());
}

/// Runs the call in turns: in turn t block t is copied in, block t-1 combined, its own piece of
/// that copied out while it is near, and the others' pieces of block t-2. A block slot is written
/// again after four turns, when all have announced that they combined from it; a result slot
/// likewise, as a rank that copied in block t has copied out block t-3.
Steps OneHostAllreduce::split(OneHostCall call) {
    const CallBlocks blocks(call, split_block_bytes(call.bytes()), group_.rank_count());
    std::array<PieceStores, 3> under_way;
    const auto stores_of = [&](std::size_t block) -> PieceStores& { return under_way[block % 3]; };
    co_await blocks_free();
    for (std::size_t turn = 0; turn < blocks.count() + 2; ++turn) {
        const auto steps = static_cast<std::uint32_t>(2 * turn);
        if (turn < blocks.count()) {
            stores_of(turn) = PieceStores(group_, blocks.bytes(turn));
            copy_pieces_in(call, blocks, turn, stores_of(turn));
            group_.announce(steps + 1);
        }
        if (turn >= 1 && turn <= blocks.count()) {
            co_await all_at(steps - 1);
            if (turn == 1)
                if (Status status = group_.check_alike_or_leave(); !status.ok()) co_return status;
            PieceStores& stores = stores_of(turn - 1);
            combine_piece(call, blocks, turn - 1, stores);
            group_.announce(steps + 2);
            if (call.wants_result())
                stores.timed([&] { copy_result_out(call, blocks, turn - 1, group_.rank()); });
        }
        if (turn < 2) continue;
        co_await all_at(steps);
        PieceStores& stores = stores_of(turn - 2);
        if (call.wants_result()) stores.timed([&] { copy_results_out(call, blocks, turn - 2); });
        stores.end();
    }
    group_.end_blocks(blocks.count());
    co_return Status();
}

}  // namespace gradcoll
