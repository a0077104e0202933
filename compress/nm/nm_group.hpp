// compress/nm/nm_group.hpp - one group of M elements in a thread's registers: which N are kept,
// packing them, putting them back. For the vector form on GPUs (compress/nm/README.md).
//
// Arrays are indexed by constants only once the loops are unrolled, so that they live in registers.
// No branches: what depends on the data are comparisons and selections.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compress/nm/nm_lanes.hpp"
#include "compress/nm/nm_layout.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::nm {

template <class S, class Bits>
struct Group {
    static constexpr int N = S::N;
    static constexpr int M = S::M;
    /// A Key has the bits without the sign, as an unsigned integer of a register.
    using Key = std::conditional_t<sizeof(Bits) == 8, std::uint64_t, std::uint32_t>;

    static constexpr Key key_of(Bits bits) {
        return static_cast<Key>(bits & static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1));
    }

    /// Returns the mask of the group: bit i is 1 if element i is kept. The lower index wins among
    /// equal keys.
    static constexpr std::uint32_t kept_bits(const Key (&key)[M]) {
        if constexpr (N == 1)
            return largest(key);
        else if constexpr (M == 4)
            return upper_half_of_four(key);
        else
            return first_of_eight(key);
    }

    /// Packs the kept values, front first: walks from the last element to the first, and each kept
    /// one goes in front of those found so far.
    static constexpr void pack(const Bits (&value)[M], std::uint32_t kept, Bits (&packed)[N]) {
        packed[0] = value[M - 1];
#pragma unroll
        for (int i = M - 2; i >= 0; --i) {
            const bool keep = keeps(kept, static_cast<unsigned>(i));
            const int found = M - 1 - i;  // at most
            if (found < N) packed[found] = packed[found - 1];
#pragma unroll
            for (int n = (found < N ? found : N) - 1; n > 0; --n)
                packed[n] = keep ? packed[n - 1] : packed[n];
            packed[0] = keep ? value[i] : packed[0];
        }
    }

    /// Returns whether more than N elements are not finite.
    template <class Format>
    static constexpr bool floods(const Key (&key)[M]) {
        int not_finite = 0;
#pragma unroll
        for (int i = 0; i < M; ++i) not_finite += key[i] > largest_finite_bits<Format>() ? 1 : 0;
        return not_finite > N;
    }

    /// Unpacks, with 0 for what was dropped: a kept element takes the front of `packed`.
    static constexpr void unpack(Bits (&packed)[N], std::uint32_t kept, Bits (&value)[M]) {
#pragma unroll
        for (int i = 0; i < M; ++i) {
            const bool keep = keeps(kept, static_cast<unsigned>(i));
            value[i] = keep ? packed[0] : Bits{0};
            const int to_come = M - 1 - i;  // no more are asked for
#pragma unroll
            for (int n = 0; n < (to_come < N - 1 ? to_come : N - 1); ++n)
                packed[n] = keep ? packed[n + 1] : packed[n];
        }
    }

  private:
    static constexpr std::uint32_t largest(const Key (&key)[M]) {
        Key top = key[0];
        std::uint32_t kept = 1;
#pragma unroll
        for (int i = 1; i < M; ++i) {
            const bool larger = key[i] > top;
            top = larger ? key[i] : top;
            kept = larger ? 1u << i : kept;
        }
        return kept;
    }

    static constexpr bool two_of(bool a, bool b, bool c) {
        return (a && b) || (c && (a || b));
    }

    /// Makes six comparisons; the elements that go before two or more of the three others are kept.
    static constexpr std::uint32_t upper_half_of_four(const Key (&key)[M]) {
        const bool a01 = key[0] >= key[1], a02 = key[0] >= key[2], a03 = key[0] >= key[3];
        const bool a12 = key[1] >= key[2], a13 = key[1] >= key[3], a23 = key[2] >= key[3];
        return (two_of(a01, a02, a03) ? 1u : 0u) | (two_of(!a01, a12, a13) ? 2u : 0u) |
               (two_of(!a02, !a12, a23) ? 4u : 0u) | (two_of(!a03, !a13, !a23) ? 8u : 0u);
    }

    /// Compares each pair once; its winner counts one, in the four bits of its own in one word. The
    /// elements that win 8 - N or more times are kept. N is 2 or 4: then the upper bits of the
    /// count say so.
    static constexpr std::uint32_t first_of_eight(const Key (&key)[M]) {
        static_assert(M == 8 && (N == 2 || N == 4));
        std::uint32_t wins = 0;
#pragma unroll
        for (int i = 0; i < M; ++i)
#pragma unroll
            for (int j = i + 1; j < M; ++j) wins += key[i] >= key[j] ? 1u << 4 * i : 1u << 4 * j;
        const std::uint32_t enough = N == 4 ? wins >> 2 : wins >> 2 & wins >> 1;
        return lowest_of_fours(enough);
    }
    /// Moves bits 0, 4, 8, ... next to one another.
    static constexpr std::uint32_t lowest_of_fours(std::uint32_t word) {
        word &= 0x11111111u;
        word = (word | word >> 3) & 0x03030303u;
        word = (word | word >> 6) & 0x000f000fu;
        return (word | word >> 12) & 0xffu;
    }
};

}  // namespace gradcoll::nm
