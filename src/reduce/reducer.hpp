// reduce/reducer.hpp - combining vectors element by element, for every type and op that we do
// ourselves: two, or any number in one walk over them.
#pragma once

#include <cstddef>
#include <span>

#include "base/cpu.hpp"
#include "reduce/element_type.hpp"
#include "reduce/reduce_op.hpp"

namespace gradcoll {

/// A Reducer says how one call combines elements. It is a value; copying it is cheap. Thread safe.
/// Never allocates. Every instruction set gives the same bits: min/max/sum of floats follow the
/// scalar reference exactly (NaN and zeros: src/reduce/README.md). fp16 and bf16 are combined in
/// fp32 and rounded to nearest even at once.
struct Reducer {
    ReduceFunction function = nullptr;
    const void* context = nullptr;
    std::size_t element_bytes = 0;
    ReduceManyFunction many = nullptr;  ///< null: reduce_many takes `function` block by block
    /// If this is not 1, the sources of a call must be all contributions (grid.hpp), in pieces of
    /// so many elements that begin where those of the vector do.
    std::size_t together_elems = 1;

    explicit operator bool() const { return function != nullptr; }
    void operator()(const void* a, const void* b, void* out, std::size_t count) const {
        function(context, a, b, out, count);
    }
};

/// Returns the best kernel on this CPU; empty if the op is not defined for the type (such as band
/// on floats).
Reducer reducer_for(ReduceOp op, ElementType type);
/// Returns the kernel of one instruction set, which this CPU must have (cpu_has); for tests and
/// benchmarks.
Reducer reducer_for(ReduceOp op, ElementType type, InstructionSet set);

/// Computes out[i] = ((s0[i] op s1[i]) op s2[i]) op ... in exactly this order, hence with the bits
/// of the chain of binary calls (a reducer of somebody else's op may bracket it otherwise, always
/// alike); one source is copied. What lies between the first source and the result
/// stays in the first-level cache.
/// sources: at least one, `count` elements each, no alignment needed; the same one may be there
/// twice. `out` may be one of them (exactly, not shifted), whatever its place; no other overlap.
/// `streaming`: the result is written past the caches, and visible to other cores as after any
/// store when the call returns. For results that are large and not read soon. It does nothing where
/// the CPU has no such stores, where `out` is not aligned to its elements, or for a source that
/// is copied onto itself.
/// Without a function of its own for many, a reducer's elements are of at most reduce_block_bytes.
/// Thread safe. Never allocates. 4 KiB of stack.
void reduce_many(const Reducer& reducer, std::span<const void* const> sources, void* out,
                 std::size_t count, bool streaming);

/// This much of a result is worked on at a time where it cannot be written at once.
inline constexpr std::size_t reduce_block_bytes = 4096;

}  // namespace gradcoll
