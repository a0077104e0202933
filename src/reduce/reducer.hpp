// reduce/reducer.hpp - combining two vectors element by element, for every type and op that we do
// ourselves.
#pragma once

#include <cstddef>

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

}  // namespace gradcoll
