// compress/nm/nm_layout.hpp - where mask words and kept values lie (compress/nm/README.md), shared
// by host and device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradcoll::nm {

inline constexpr std::size_t block_elems = 512;
inline constexpr std::size_t window_elems = 32;  // the elements of one mask word
inline constexpr std::size_t block_words = block_elems / window_elems;
inline constexpr std::size_t block_mask_bytes = block_words * sizeof(std::uint32_t);

/// Returns the NaN that every element of a flooded group decodes to. *Flooded* is a group with more
/// than N values that are not finite; all M bits of its mask are 1, and its N kept values do not
/// count.
template <class Bits>
constexpr Bits flood() {
    return static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
}

/// A Shape keeps `keep` of every `group` elements; both are powers of two, keep < group <= 16.
template <int keep, int group>
struct Shape {
    static_assert(keep >= 1 && keep < group && group <= 16);
    static_assert((keep & (keep - 1)) == 0 && (group & (group - 1)) == 0);
    static constexpr int N = keep;
    static constexpr int M = group;
    static constexpr std::size_t window_kept = window_elems * N / M;
    static constexpr std::size_t block_kept = block_elems * N / M;
    /// This word has bit 0 of every group of a mask word.
    static constexpr std::uint32_t group_lowest =
        static_cast<std::uint32_t>(0xffffffffull / ((1ull << M) - 1));
    /// This is a legal mask word: the first N elements of every group.
    static constexpr std::uint32_t first_kept = group_lowest * ((1u << N) - 1);

    /// Returns all lanes of the groups in which the word has a bit.
    static constexpr std::uint32_t groups_of(std::uint32_t word) {
        for (int x = 1; x < M; x *= 2) word |= word >> x;
        return (word & group_lowest) * ((1u << M) - 1u);
    }
    /// Returns all lanes of the groups of which the word has all bits: the flooded ones of a mask.
    static constexpr std::uint32_t full_groups_of(std::uint32_t word) { return ~groups_of(~word); }
    /// Returns the mask word with a legal group in place of every flooded one.
    static constexpr std::uint32_t without_flood(std::uint32_t word) {
        return word & ~(full_groups_of(word) & ~first_kept);
    }

    /// Returns whether every group of the word has exactly N bits.
    static constexpr bool is_legal(std::uint32_t word) {
        count_bits(word);
        return word == group_lowest * N;
    }

    /// Replaces a word, or a vector of words, by the number of bits in every group, in the group's
    /// own M bits.
    template <class Word>
    static constexpr void count_bits(Word& word) {
        word = word - ((word >> 1) & 0x55555555u);
        word = (word & 0x33333333u) + ((word >> 2) & 0x33333333u);
        if (M >= 8) word = (word + (word >> 4)) & 0x0f0f0f0fu;
        if (M >= 16) word = (word + (word >> 8)) & 0x001f001fu;
    }
};

/// Tail says how the elements behind the last whole block are laid out.
struct Tail {
    std::size_t groups, mask_words, kept, rest;

    template <class S>
    static constexpr Tail of(std::size_t elems) {
        const std::size_t groups = elems / S::M;
        return {groups, (groups * S::M + window_elems - 1) / window_elems, groups * S::N,
                elems % S::M};
    }
    constexpr std::size_t bytes(std::size_t elem_bytes) const {
        return mask_words * sizeof(std::uint32_t) + (kept + rest) * elem_bytes;
    }
};

template <class S>
constexpr std::size_t block_bytes(std::size_t elem_bytes) {
    return block_mask_bytes + S::block_kept * elem_bytes;
}

}  // namespace gradcoll::nm
