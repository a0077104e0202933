// reduce/reduce_op.hpp - the ops that we do ourselves, and the shape of the functions that do them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace gradcoll {

enum class ReduceOp : std::uint8_t { sum, prod, min, max, land, lor, lxor, band, bor, bxor };
inline constexpr std::size_t reduce_op_count = static_cast<std::size_t>(ReduceOp::bxor) + 1;

constexpr std::string_view name_of(ReduceOp op) {
    constexpr std::string_view names[] = {"sum", "prod", "min",  "max", "land",
                                          "lor", "lxor", "band", "bor", "bxor"};
    static_assert(std::size(names) == reduce_op_count);
    return names[static_cast<std::size_t>(op)];
}

/// A ReduceFunction computes out[i] = a[i] op b[i] for count elements. `out` may be `a` or `b`
/// (exactly, not shifted); no other overlap. `context` is what the Reducer carries (null for our
/// own kernels).
using ReduceFunction = void (*)(const void* context, const void* a, const void* b, void* out,
                                std::size_t count);

/// A ReduceManyFunction combines any number of sources, from the first to the last, in one walk:
/// reduce_many (reduce/reducer.hpp) calls it where it is there. If `streaming`, stores go past the
/// caches; `out` is then aligned to its elements.
using ReduceManyFunction = void (*)(const void* context, const void* const* sources,
                                    std::size_t source_count, void* out, std::size_t count,
                                    bool streaming);

}  // namespace gradcoll
