// compress/nm/nm_lanes.hpp - which elements are kept: the one algorithm of all vector versions, CPU
// and GPU.
//
// Written for a machine of 32 lanes, each of which holds one element. Lane i reaches lane i ^ x by
// an exchange, and a word of one bit a lane comes from a ballot. The machine is a GPU warp
// (nm_cuda.cu), a few CPU registers (nm_window_avx2.hpp, nm_window_avx512.hpp), or an emulated warp
// (tests/compress). No branches, no sort. Source: SPEC S0.
//
// A machine offers: Keys (one signed integer a lane: the bits with the sign cleared), Flags (one
// bit a lane), and
//   exchange<x>(keys)            lane i gets the key of lane i ^ x
//   one_less_in_upper<x>(keys)   keys, less 1 in the lanes that have bit x set (x a power of two)
//   max(a, b), equal(a, b), greater(a, b), ballot(flags)
//   Wins<M>                      a counter a lane, 0 to M-1: add(flags), at_least<n>() -> flags
#pragma once

#include <cstdint>

#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {

constexpr int highest_bit(int x) {
    int bit = 1;
    while (2 * bit <= x) bit *= 2;
    return bit;
}

/// The largest key of each lane's group: log2(M) exchanges.
template <class Machine, int M, int x = 1>
constexpr typename Machine::Keys group_max(typename Machine::Keys keys) {
    if constexpr (x < M) {
        return group_max<Machine, M, 2 * x>(
            Machine::max(keys, Machine::template exchange<x>(keys)));
    } else {
        return keys;
    }
}

/// Counts for each lane the lanes i ^ x, i ^ (x+1), ... of its group that it beats. Ties go to the
/// lower lane: the lower one of a pair (bit h of x clear, h its highest bit) compares with "greater
/// or equal", which for integers is "greater than the other, less 1"; the other takes the 1 off
/// before it hands its key over.
template <class Machine, int M, int x = 1>
constexpr void count_wins(typename Machine::Keys keys, typename Machine::template Wins<M>& wins) {
    if constexpr (x < M) {
        const typename Machine::Keys offered =
            Machine::template one_less_in_upper<highest_bit(x)>(keys);
        wins.add(Machine::greater(keys, Machine::template exchange<x>(offered)));
        count_wins<Machine, M, x + 1>(keys, wins);
    }
}

/// The mask word of 32 elements: one bit a lane, exactly N in every group of M.
template <class Machine, class S>
constexpr std::uint32_t kept_word(typename Machine::Keys keys) {
    if constexpr (S::N == 1) {
        const typename Machine::Keys top = group_max<Machine, S::M>(keys);
        const std::uint32_t largest = Machine::ballot(Machine::equal(keys, top));
        return largest & ~(largest - S::group_lowest);  // the lowest bit of every group
    } else {
        typename Machine::template Wins<S::M> wins{};
        count_wins<Machine, S::M>(keys, wins);
        return Machine::ballot(wins.template at_least<S::M - S::N>());
    }
}

/// Whether the word keeps the lane, and how many kept lanes are before it: its place among the
/// window's kept values.
constexpr bool keeps(std::uint32_t word, unsigned lane) {
    return (word >> lane & 1u) != 0;
}
constexpr std::uint32_t kept_before(std::uint32_t word, unsigned lane) {
    return word & ((1u << lane) - 1u);  // count its bits with the machine's own instruction
}

}  // namespace gradcoll::nm
