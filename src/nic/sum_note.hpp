// nic/sum_note.hpp - what the pieces of a vector that agents add say: op and type of its elements,
// and which piece of how many elements it is.
#pragma once

#include "base/refusals.hpp"
#include "nic/layout.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

struct SumKind {
    ReduceOp op = ReduceOp::sum;
    ElementType type = ElementType::f32;
};

/// Returns the note of piece `index` in its vector of `count` elements, in which ranks may wrongly
/// differ.
inline NicNote note_of(const SumKind& kind, std::uint64_t index, std::uint64_t count) {
    NicNote note;
    note.id = index;
    note.other_id = count;
    note.kind = static_cast<std::uint32_t>(kind.op);
    note.tag = static_cast<std::int32_t>(kind.type);
    return note;
}

/// Returns what the note says. Errors: corrupt if it is no op and type that have a kernel.
inline Result<SumKind> sum_kind_of(const NicNote& note) {
    const SumKind kind{static_cast<ReduceOp>(note.kind), static_cast<ElementType>(note.tag)};
    if (note.kind < reduce_op_count && note.tag >= 0 &&
        note.tag < static_cast<std::int32_t>(ElementType::opaque) &&
        reducer_for(kind.op, kind.type))
        return kind;
    return corrupt("a piece of op {} and type {}", note.kind, note.tag);
}

}  // namespace gradcoll
