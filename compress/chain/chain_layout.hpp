// compress/chain/chain_layout.hpp - where masks and codes lie (compress/chain/README.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/nm/nm_layout.hpp"
#include "compress/quant/quant_layout.hpp"

namespace gradcoll::chain {

using nm::block_elems;

/// All chains keep some of every four.
inline constexpr std::size_t group = 4;
template <int keep>
using Shape = nm::Shape<keep, static_cast<int>(group)>;

/// The packed masks of a whole block have this many bytes: a group has three mask bits there, as
/// the fourth follows from them.
inline constexpr std::size_t packed_mask_bytes = nm::block_mask_bytes / 4 * 3;

/// These select bits of every group of a mask word.
inline constexpr std::uint32_t first_three = 0x77777777, last_of_four = 0x88888888;

namespace {

/// Computes the last bit of every group from the other three, of a word or a vector of words. Two
/// of four, or all of a flooded group, are an even number of bits; of 1:4 it is the bit that is set
/// if no other is, or if all others are. Whatever no mask is made of becomes an illegal group.
template <class S, class Words>
constexpr Words with_last_bits(Words words) {
    const Words second = words >> 1, third = words >> 2;
    const Words last =
        S::N == 2 ? words ^ second ^ third : (words & second & third) | ~(words | second | third);
    return words | (last << 3 & last_of_four);
}

}  // namespace

/// Tail is what N:M makes of the elements behind the last whole block, and the quantizer takes.
struct Tail {
    std::size_t mask_bytes, values;

    static constexpr Tail of(std::size_t keep, std::size_t elems) {
        const std::size_t groups = elems / group;
        const std::size_t words = (groups * group + nm::window_elems - 1) / nm::window_elems;
        return {words * sizeof(std::uint32_t), groups * keep + elems % group};
    }
};

constexpr std::size_t block_bytes(std::size_t keep, int bits, std::size_t elem_bytes) {
    return packed_mask_bytes + quant::block_bytes(bits, elem_bytes, block_elems / group * keep);
}

[[gnu::always_inline]] constexpr std::size_t encoded_bytes(std::size_t keep, int bits,
                                                           std::size_t elem_bytes,
                                                           std::size_t count) {
    const Tail tail = Tail::of(keep, count % block_elems);
    return count / block_elems * block_bytes(keep, bits, elem_bytes) + tail.mask_bytes +
           quant::encoded_bytes(bits, elem_bytes, tail.values);
}

}  // namespace gradcoll::chain
