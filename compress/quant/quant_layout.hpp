// compress/quant/quant_layout.hpp - where scale, offset and codes lie, and which codes there are
// (compress/quant/README.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "reduce/element_type.hpp"

namespace gradcoll::quant {

inline constexpr std::size_t block_elems = 256;

/// CodeRange goes from the smallest code of a value to the largest.
struct CodeRange {
    int lowest, highest;
};

/// Width describes codes of this many bits, in two's complement.
template <int code_bits>
struct Width {
    static constexpr int bits = code_bits;
    using Code = std::conditional_t<(bits > 8), std::int16_t, std::int8_t>;
    static constexpr int lowest = -(1 << (bits - 1)), highest = (1 << (bits - 1)) - 1;
    /// In a block with NaN or Inf the outermost codes say which it is.
    static constexpr int nan = lowest, minus_inf = lowest + 1, plus_inf = highest;

    static constexpr CodeRange all() { return {lowest, highest}; }
    static constexpr CodeRange beside_specials() { return {lowest + 2, highest - 1}; }
};

/// Returns the size of scale and offset, which are fp32, or fp64 for fp64.
constexpr std::size_t header_bytes(std::size_t elem_bytes) {
    return 2 * (elem_bytes == sizeof(double) ? sizeof(double) : sizeof(float));
}

/// Returns the size of a block. The last one of a message may have fewer than block_elems elements.
constexpr std::size_t block_bytes(int bits, std::size_t elem_bytes, std::size_t elems) {
    return header_bytes(elem_bytes) + (elems * static_cast<std::size_t>(bits) + 7) / 8;
}

constexpr std::size_t encoded_bytes(int bits, std::size_t elem_bytes, std::size_t count) {
    const std::size_t rest = count % block_elems;
    return count / block_elems * block_bytes(bits, elem_bytes, block_elems) +
           (rest == 0 ? 0 : block_bytes(bits, elem_bytes, rest));
}

/// Returns whether the type is quantized to `bits` bits: codes as wide as the element would only
/// make a message longer.
constexpr bool quantizes(int bits, ElementType type) {
    return is_floating(type) && static_cast<std::size_t>(bits) < 8 * element_bytes(type);
}

}  // namespace gradcoll::quant
