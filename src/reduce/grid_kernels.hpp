// reduce/grid_kernels.hpp - the kernels of sums on a grid for one instruction set, as a table;
// private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "reduce/kernels.hpp"

namespace gradcoll {

/// A GridTable has a function of each kind for each floating-point type, and null for the others.
/// Each works on at most one block; grid.hpp says what the numbers mean.
struct GridTable {
    /// Returns the bits of the largest magnitude of `count` elements, NaN and Inf among them.
    using Largest = std::uint64_t (*)(const void* in, std::size_t count);
    /// Adds blocks of finite numbers with this top, and rounds once. There are at most
    /// most_sources_at_once of them. `out` may be one of the sources.
    using Add = void (*)(const void* const* sources, std::size_t source_count, std::size_t first,
                         std::size_t count, int top, void* out);
    /// Turns finite numbers into whole multiples of the step: the words of all, one after the
    /// other.
    using ToGrid = void (*)(const void* in, std::size_t count, int top, std::int64_t* words);
    using FromGrid = void (*)(const std::int64_t* words, std::size_t count, int top, void* out);

    Largest largest[element_type_count];
    Add add[element_type_count];
    ToGrid to_grid[element_type_count];
    FromGrid from_grid[element_type_count];
};

/// This many numbers of a block can be added in double precision without rounding.
inline constexpr std::size_t most_sources_at_once = 64;

using GridTableOfSet = const GridTable&();
GridTableOfSet GRADCOLL_OF_SETS(grid_table);

}  // namespace gradcoll
