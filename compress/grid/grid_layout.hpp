// compress/grid/grid_layout.hpp - how long an encoding of whole numbers is (README.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradcoll::grid {

/// So many words are encoded together.
inline constexpr std::size_t block_elems = 512;
/// So many words lie side by side in a row. Each column of a block is packed by itself.
inline constexpr std::size_t row_elems = 8;
/// So many rows have one width and one shift.
inline constexpr std::size_t group_rows = 2;
inline constexpr std::size_t group_elems = group_rows * row_elems;
/// A group has its width and its shift in front, a byte each.
inline constexpr std::size_t group_head_bytes = 2;

constexpr std::size_t rows_of(std::size_t elems) {
    return (elems + row_elems - 1) / row_elems;
}
constexpr std::size_t groups_of(std::size_t elems) {
    return (elems + group_elems - 1) / group_elems;
}

/// Returns the most bytes that so many words take. Linear over whole blocks.
constexpr std::size_t bound_bytes(std::size_t elems) {
    return groups_of(elems) * group_head_bytes + rows_of(elems) * row_elems * sizeof(std::int64_t);
}

}  // namespace gradcoll::grid
