// compress/quant/escape_layout.hpp - quantized values that keep a tolerance: where what of a block
// lies (compress/quant/README.md, "With a tolerance").
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/quant/quant_layout.hpp"

namespace gradcoll::quant {

/// A block is larger than without a tolerance: it decides on the step, and few headers are needed.
inline constexpr std::size_t escape_block_elems = 512;

/// The lowest code marks an element that is sent as it is, whether a block has such or not.
template <class W>
inline constexpr int escape_mark = W::lowest;
template <class W>
inline constexpr CodeRange beside_mark{W::lowest + 1, W::highest};

/// EscapeSizes has the sizes of a block of `elems` elements of `Bits`, calculated in `Wide`.
template <class W, class Bits, class Wide>
struct EscapeSizes {
    static constexpr std::size_t constant = 2 * sizeof(Wide);
    static constexpr std::size_t codes(std::size_t elems) {
        return (elems * static_cast<std::size_t>(W::bits) + 7) / 8;
    }
    static constexpr std::size_t coded(std::size_t elems, std::size_t escapes) {
        return constant + codes(elems) + escapes * sizeof(Bits);
    }
    static constexpr std::size_t plain(std::size_t elems) {
        return sizeof(Wide) + elems * sizeof(Bits);
    }
};

/// Returns the largest size, since every block of a message may be plain.
constexpr std::size_t escape_bound_bytes(std::size_t elem_bytes, std::size_t count) {
    const std::size_t mark = elem_bytes == sizeof(double) ? sizeof(double) : sizeof(float);
    return elem_bytes * count + (count + escape_block_elems - 1) / escape_block_elems * mark;
}

namespace {

/// Writes all bits set, which is a NaN, in place of the scale of a block of plain elements.
template <class Wide>
inline void write_plain_mark(std::byte* out) {
    std::memset(out, 0xff, sizeof(Wide));
}
template <class Wide>
inline bool is_plain_mark(const std::byte* in) {
    for (std::size_t i = 0; i < sizeof(Wide); ++i)
        if (in[i] != std::byte{0xff}) return false;
    return true;
}

/// Escapes has a bit for each element of a block.
struct Escapes {
    static constexpr std::size_t word_bits = 64;
    std::uint64_t words[escape_block_elems / word_bits] = {};

    void set(std::size_t i) { words[i / word_bits] |= std::uint64_t{1} << i % word_bits; }
    /// Adds bits of neighbouring elements; `first` is a multiple of how many.
    void add(std::size_t first, std::uint64_t bits) {
        words[first / word_bits] |= bits << first % word_bits;
    }
    std::size_t count() const {
        std::size_t all = 0;
        for (const std::uint64_t word : words)
            all += static_cast<std::size_t>(__builtin_popcountll(word));
        return all;
    }
    /// Calls visit(i) for each element that has its bit set, in order.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t w = 0; w < escape_block_elems / word_bits; ++w)
            for (std::uint64_t word = words[w]; word != 0; word &= word - 1)
                visit(w * word_bits + static_cast<std::size_t>(__builtin_ctzll(word)));
    }
};

}  // namespace
}  // namespace gradcoll::quant
