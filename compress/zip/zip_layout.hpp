// compress/zip/zip_layout.hpp - what the head of a block says, and how long its parts are
// (README.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradcoll::zip {

/// So many elements are encoded together.
inline constexpr std::size_t block_elems = 512;
/// A bit of so many codes, or of so many marks of zeros, lies in one number of 64 bits.
inline constexpr std::size_t group_elems = 64;
inline constexpr std::size_t group_bytes = 8;
inline constexpr std::size_t head_bytes = 2;

constexpr std::size_t groups_of(std::size_t elems) {
    return (elems + group_elems - 1) / group_elems;
}

/// Returns the most bytes that so many elements take. Linear over whole blocks.
constexpr std::size_t bound_bytes(std::size_t elem_bytes, std::size_t elems) {
    return elem_bytes * elems + (elems + block_elems - 1) / block_elems * head_bytes;
}

/// A Head is what a block begins with.
struct Head {
    /// These widths stand for a block of plain elements, and for one of zeros.
    static constexpr unsigned plain = 15;
    static constexpr unsigned zeros = 14;
    static constexpr unsigned most_width = 8;

    unsigned width = 0;       ///< bits of a code
    unsigned rest_bytes = 0;  ///< bytes of each element behind its high byte that travel
    bool has_marks = false;   ///< whether zeros are left out, and marks say where they are
    std::uint8_t base = 0;    ///< the largest high byte; codes count down from it

    /// Returns whether elements whose code has only ones have a byte of their own.
    constexpr bool has_escapes() const { return width > 0 && width < most_width; }
    /// Returns the code that stands for an escape.
    constexpr unsigned escape() const { return (1U << width) - 1; }

    void write(std::byte* out) const {
        out[0] = static_cast<std::byte>(width | rest_bytes << 4 | (has_marks ? 0x80U : 0U));
        out[1] = static_cast<std::byte>(base);
    }
    /// Reads a head that comes from a peer, of elements of `elem_bytes` bytes. Returns whether it
    /// is one.
    static bool read(const std::byte* in, std::size_t elem_bytes, Head& head) {
        const auto first = static_cast<unsigned>(in[0]);
        head = {first & 15U, first >> 4 & 7U, first >> 7 != 0, static_cast<std::uint8_t>(in[1])};
        if (head.width == plain || head.width == zeros)
            return head.rest_bytes == 0 && !head.has_marks && head.base == 0;
        return head.width <= most_width && head.rest_bytes < elem_bytes;
    }
};

}  // namespace gradcoll::zip
