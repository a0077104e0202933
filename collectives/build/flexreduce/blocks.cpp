// collectives/build/flexreduce/blocks.cpp - between the tree's own ownership and the MPI standard's
// blocks.
#include "collectives/build/flexreduce/blocks.hpp"

#include <algorithm>
#include <map>

namespace gradcoll {
namespace {

std::vector<Message> without(int rank, const std::map<int, std::vector<Range>>& by_rank) {
    std::vector<Message> messages;
    for (const auto& [peer, ranges] : by_rank)
        if (peer != rank) messages.push_back({peer, ranges});
    return messages;
}

std::vector<Range> own_pieces(const BlockLayout& layout) {
    std::vector<Range> pieces;
    for (const Range& range : layout.owned) append_joined(pieces, intersect(range, layout.block));
    return pieces;
}

}  // namespace

BlockLayout block_layout(const Tree& tree, const OwnershipMap& map, int rank,
                         const std::vector<Range>& owned) {
    const std::int64_t block = map.count_elems() / tree.rank_count();
    BlockLayout layout{{rank * block, (rank + 1) * block}, owned, {}, {}};
    std::map<int, std::vector<Range>> to_owners;
    for (const OwnedRange& piece : map.owners(tree.root(), layout.block))
        append_joined(to_owners[piece.rank], piece.range);
    std::map<int, std::vector<Range>> to_blocks;
    for (const Range& range : owned)
        for (std::int64_t at = range.begin; at < range.end;) {
            const std::int64_t end = std::min(range.end, (at / block + 1) * block);
            append_joined(to_blocks[static_cast<int>(at / block)], {at, end});
            at = end;
        }
    layout.to_owners = without(rank, to_owners);
    layout.to_blocks = without(rank, to_blocks);
    return layout;
}

void append_to_blocks(Transfer& transfer, const BlockLayout& layout) {
    for (const Message& message : layout.to_owners) transfer.recv_values(message, Slot::output());
    for (const Message& message : layout.to_blocks) transfer.send_values(message, Slot::work());
    for (const Range& piece : own_pieces(layout))
        transfer.copy(Slot::work(), Slot::output(), piece);
}

void append_from_blocks(Transfer& transfer, const BlockLayout& layout, Slot source) {
    for (const Message& message : layout.to_owners) transfer.send_values(message, source);
    for (const Message& message : layout.to_blocks) transfer.recv_values(message, Slot::output());
    if (source == Slot::output()) return;
    for (const Range& piece : own_pieces(layout)) transfer.copy(source, Slot::output(), piece);
}

}  // namespace gradcoll
