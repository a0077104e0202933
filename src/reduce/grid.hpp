// reduce/grid.hpp - sums of floats that have the same bits in whatever order, grouping and number
// of partial sums they are made (README.md, "Sums on a grid"): each contribution is rounded once to
// a whole multiple of a step that all contributions share, these are added without rounding, and
// the sum is rounded once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/element_type.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll {

/// So many elements in a row, counted from the vector's first, share a step.
inline constexpr std::size_t grid_block_elems = 256;
/// So many contributions can be added.
inline constexpr std::int64_t most_grid_contributions = std::int64_t{1} << 16;

/// Returns what sums all contributions at once, by reduce_many(): its sources must be all of them,
/// from the first element of a block of the vector on. It has no partial sums.
Reducer grid_reducer(ElementType type);
/// Returns the same with the kernels of one instruction set, which this CPU must have; for tests.
Reducer grid_reducer(ElementType type, InstructionSet set);

// ---- sums in parts, in integers. A block's *top* is the biased exponent of its largest finite
// magnitude, at least 1; the sum is made with the largest top of all contributions.

/// Returns how many 64-bit words an element has on the grid: two of fp64, else one.
constexpr std::size_t grid_words(ElementType type) {
    return type == ElementType::f64 ? 2 : 1;
}
constexpr std::size_t grid_blocks(std::size_t count) {
    return (count + grid_block_elems - 1) / grid_block_elems;
}

/// GridTop is what a contribution says of a block. That of all has the largest of each number.
struct GridTop {
    std::uint16_t top = 1;
    std::uint16_t has_specials = 0;  ///< 1: some element is NaN or Inf
};
/// Writes the tops of `count` elements: grid_blocks(count) of them. Thread safe, as are the others.
void find_tops(ElementType type, const void* in, std::size_t count, GridTop* tops);

/// Writes all elements as whole multiples of the steps of `tops`: grid_words(type) words for each,
/// which are added by themselves. NaN and Inf give zero.
void to_grid(ElementType type, const void* in, std::size_t count, const GridTop* tops,
             std::int64_t* words);
/// Turns sums back into elements, each rounded to the nearest, ties to even; a sum beyond the
/// largest finite value is Inf, and one of zero is +0.
void from_grid(ElementType type, const std::int64_t* words, std::size_t count, const GridTop* tops,
               void* out);

/// Writes what NaN and Inf are in the `count` elements: bits that are combined by "or".
void find_specials(ElementType type, const void* in, std::size_t count, std::uint8_t* specials);
/// Writes NaN and Inf over the results that have any: a NaN, or Inf of both signs, gives the quiet
/// NaN without a sign and payload.
void put_specials(ElementType type, const std::uint8_t* specials, std::size_t count, void* out);

}  // namespace gradcoll
