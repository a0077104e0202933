// memory/vector_part.hpp - a vector whose elements do not lie in one piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace gradcoll {

/// A VectorPart says where some elements of a vector are that does not lie in one piece. Where
/// input and output are the same memory, the part is in place.
struct VectorPart {
    std::int64_t begin_elem = 0;  ///< the first of them; they end where the next part begins
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    std::byte* residual = nullptr;  ///< one value for each element, or null
};

/// Returns the part with an element of the whole vector. The first part begins with element 0.
inline const VectorPart& part_with(std::span<const VectorPart> parts, std::int64_t elem) {
    return *std::prev(std::upper_bound(
        parts.begin(), parts.end(), elem,
        [](std::int64_t at, const VectorPart& part) { return at < part.begin_elem; }));
}

}  // namespace gradcoll
