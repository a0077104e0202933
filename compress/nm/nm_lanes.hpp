// compress/nm/nm_lanes.hpp - which elements are kept: the one algorithm of all vector versions, CPU
// and GPU.
//
// Written for a machine of 32 lanes, each of which holds one element, and a word of one bit a lane
// comes from a ballot. The source (SPEC S0) lets a lane fetch the others of its group by XOR of its
// number (i ^ 1, ^ 2, ^ 3 for M = 4) and rank itself. Here that is so only for N = 1, a maximum
// over log2(M) such exchanges. For other N a lane fetches its neighbours 1 to M/2 ahead, going
// round in its group (two rotated ones for M = 4): each pair is compared once, and the ballot of a
// comparison, rotated by as many bits, is what the other lane of the pair would have found. The
// machine is a GPU warp (nm_warp_form.hpp), an emulated one (tests/support/warp_emulator.hpp), or a
// few CPU registers (nm_window.hpp). No branches, no sort.
//
// A machine offers: Keys (one signed integer a lane: the bits with the sign cleared), Flags (one
// bit a lane), and
//   exchange<x>(keys)            lane i gets the key of lane i ^ x (N = 1 only)
//   ahead<M, r>(keys)            lane i gets the key of lane i + r of its group of M, which begins
//                                again behind its end
//   less_one_below<M, p>(keys)   keys, less 1 in the first p lanes of every group of M
//   max(a, b), equal(a, b), greater(a, b), ballot(flags)
#pragma once

#include <cstdint>

#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {

/// Returns the largest key of each lane's group, by log2(M) exchanges.
template <class Machine, int M, int x = 1>
constexpr typename Machine::Keys group_max(typename Machine::Keys keys) {
    if constexpr (x < M) {
        return group_max<Machine, M, 2 * x>(
            Machine::max(keys, Machine::template exchange<x>(keys)));
    } else {
        return keys;
    }
}

/// Returns one bit a lane: whether it goes before the lane r ahead of it, being larger, or equal
/// and of lower index. In the first M - r lanes of a group "greater or equal" is asked, which for
/// integers is "greater than the other, less 1"; behind them the lane ahead is of lower index.
template <class Machine, int M, int r>
constexpr std::uint32_t before_the_one_ahead(typename Machine::Keys keys) {
    const typename Machine::Keys other =
        Machine::template less_one_below<M, M - r>(Machine::template ahead<M, r>(keys));
    return Machine::ballot(Machine::greater(keys, other));
}

/// Returns the same pairs as seen by the other lane: whether it goes before the one r behind it.
template <int M, int r>
constexpr std::uint32_t before_the_one_behind(std::uint32_t before_ahead) {
    constexpr std::uint32_t group_lowest = Shape<1, M>::group_lowest;
    constexpr std::uint32_t wrapped = group_lowest * ((1u << r) - 1);
    const std::uint32_t moved =
        (before_ahead << r & ~wrapped) | (before_ahead >> (M - r) & wrapped);
    return ~moved;
}

constexpr std::uint32_t majority(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return (a & b) | (c & (a | b));
}

/// Returns the lanes that go before two or more of the three others of their group.
template <class Machine>
constexpr std::uint32_t upper_half_of_four(typename Machine::Keys keys) {
    const std::uint32_t one_ahead = before_the_one_ahead<Machine, 4, 1>(keys);
    const std::uint32_t two_ahead = before_the_one_ahead<Machine, 4, 2>(keys);
    return majority(one_ahead, two_ahead, before_the_one_behind<4, 1>(one_ahead));
}

/// Returns the lanes that go before 8 - N or more of the seven others: the seven answers are added
/// up in binary, a word a digit.
template <class Machine, int N>
constexpr std::uint32_t first_of_eight(typename Machine::Keys keys) {
    static_assert(N == 2 || N == 4);
    const std::uint32_t a1 = before_the_one_ahead<Machine, 8, 1>(keys);
    const std::uint32_t a2 = before_the_one_ahead<Machine, 8, 2>(keys);
    const std::uint32_t a3 = before_the_one_ahead<Machine, 8, 3>(keys);
    const std::uint32_t a4 = before_the_one_ahead<Machine, 8, 4>(keys);
    const std::uint32_t b1 = before_the_one_behind<8, 1>(a1);
    const std::uint32_t b2 = before_the_one_behind<8, 2>(a2);
    const std::uint32_t b3 = before_the_one_behind<8, 3>(a3);
    const std::uint32_t twos_ahead = majority(a1, a2, a3);
    const std::uint32_t twos_behind = majority(b1, b2, b3);
    const std::uint32_t twos_left = majority(a1 ^ a2 ^ a3, b1 ^ b2 ^ b3, a4);
    const std::uint32_t fours = majority(twos_ahead, twos_behind, twos_left);
    return N == 4 ? fours : fours & (twos_ahead ^ twos_behind ^ twos_left);
}

/// Returns the mask word of 32 elements: one bit a lane, exactly N in every group of M.
template <class Machine, class S>
constexpr std::uint32_t kept_word(typename Machine::Keys keys) {
    if constexpr (S::N == 1) {
        const typename Machine::Keys top = group_max<Machine, S::M>(keys);
        const std::uint32_t largest = Machine::ballot(Machine::equal(keys, top));
        return largest & ~(largest - S::group_lowest);  // the lowest bit of every group
    } else if constexpr (S::M == 4) {
        return upper_half_of_four<Machine>(keys);
    } else {
        static_assert(S::M == 8);
        return first_of_eight<Machine, S::N>(keys);
    }
}

/// Returns the lanes of flooded groups: those that drop a value that is not finite, of which they
/// have more than N. `word` says what is kept; `not_finite` has a bit a lane.
template <class S>
constexpr std::uint32_t flooded(std::uint32_t not_finite, std::uint32_t word) {
    return S::groups_of(not_finite & ~word);
}

/// Returns whether the word keeps the lane; kept_before() marks the kept lanes before it, whose
/// number is its place among the window's kept values.
constexpr bool keeps(std::uint32_t word, unsigned lane) {
    return (word >> lane & 1u) != 0;
}
constexpr std::uint32_t kept_before(std::uint32_t word, unsigned lane) {
    return word & ((1u << lane) - 1u);  // count its bits with the machine's own instruction
}

}  // namespace gradcoll::nm
