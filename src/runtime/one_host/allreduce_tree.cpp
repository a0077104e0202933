// runtime/one_host/allreduce_tree.cpp - short vectors of many ranks.
#include <algorithm>

#include "memory/copy.hpp"
#include "runtime/one_host/allreduce.hpp"

namespace gradcoll {
namespace {

/// A rank waits for up to radix - 1 others on each of its levels.
constexpr int radix = 8;

constexpr std::uint32_t combined = 1;
constexpr std::uint32_t finished = 2;

}  // namespace

/// Combines up a tree: rank r is on level k if r is a multiple of radix^k; there it combines the
/// next radix - 1 multiples, so that what it holds is always a run of ranks in rank order.
Status OneHostAllreduce::tree(const OneHostCall& call) {
    const std::size_t elem_bytes = call.reducer.element_bytes;
    const int mine = group_.rank();
    std::byte* held = group_.inline_slot(mine);
    call.for_stretches(
        0, call.count,
        [&](const std::byte* input, std::byte*, std::size_t first, std::size_t elems) {
            copy_bytes(held + first * elem_bytes, input, elems * elem_bytes);
        });
    bool alike = true;
    for (int stride = 1; stride < group_.rank_count() && mine % (stride * radix) == 0;
         stride *= radix) {
        const int end = std::min(group_.rank_count(), mine + stride * radix);
        for (int child = mine + stride; child < end; child += stride) {
            group_.wait_for(child, combined);
            alike = alike && group_.is_alike(child) && !group_.has_left(child);
            if (alike) call.reducer(held, group_.inline_slot(child), held, call.count);
        }
    }
    // Whoever is above must hear of a difference before this rank waits for it.
    if (alike)
        group_.announce(mine == 0 ? finished : combined);
    else
        group_.leave();
    // Rank 0 may have made another call, of which it announces no second step.
    group_.wait_for(0, SegmentGroup::begun);
    if (group_.is_alike(0)) group_.wait_for(0, finished);
    if (!alike || !group_.is_alike(0) || group_.has_left(0)) {
        group_.leave();
        return {Code::invalid_argument,
                "count, datatype or op: two ranks of the host called with different ones; all "
                "ranks must use the same"};
    }
    group_.note_all_have_begun();
    const std::byte* const result = group_.inline_slot(0);
    if (!call.wants_result()) return {};
    call.for_stretches(
        0, call.count,
        [&](const std::byte*, std::byte* output, std::size_t first, std::size_t elems) {
            copy_bytes(output, result + first * elem_bytes, elems * elem_bytes);
        });
    return {};
}

}  // namespace gradcoll
