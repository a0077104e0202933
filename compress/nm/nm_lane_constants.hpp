// compress/nm/nm_lane_constants.hpp - vectors of constants for nm_lanes.hpp on CPU registers.
#pragma once

#include <cstddef>

#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {
namespace {

/// -1 in the first `below` lanes of every group of M in a window, else 0: the tie rule.
template <class Bits, int M, int below>
struct MinusOneBelow {
    alignas(64) Bits lanes[window_elems];
    constexpr MinusOneBelow() : lanes() {
        for (std::size_t i = 0; i < window_elems; ++i)
            lanes[i] = static_cast<Bits>(static_cast<int>(i % M) < below ? ~Bits{0} : Bits{0});
    }
    static const MinusOneBelow value;
};
template <class Bits, int M, int below>
constexpr MinusOneBelow<Bits, M, below> MinusOneBelow<Bits, M, below>::value{};

/// The shuffle operand that gives lane i of four the lane i + r.
template <int r>
constexpr int rotation_of_four = (0 + r) % 4 | (1 + r) % 4 << 2 | (2 + r) % 4 << 4 |
                                 (3 + r) % 4 << 6;

/// Where the units (bytes, or whole lanes) of every lane come from, if lane i gets lane i + r of
/// its group of M. Numbered anew after each `stretch` units, as the instruction does.
template <class Unit, int units_a_lane, int M, int r, int stretch>
struct AheadIndex {
    alignas(64) Unit units[64 / sizeof(Unit)];
    constexpr AheadIndex() : units() {
        for (int i = 0; i < static_cast<int>(64 / sizeof(Unit)); ++i) {
            const int lane = i / units_a_lane;
            const int from = lane / M * M + (lane % M + r) % M;
            units[i] = static_cast<Unit>((from * units_a_lane + i % units_a_lane) % stretch);
        }
    }
    static const AheadIndex value;
};
template <class Unit, int units_a_lane, int M, int r, int stretch>
constexpr AheadIndex<Unit, units_a_lane, M, r, stretch>
    AheadIndex<Unit, units_a_lane, M, r, stretch>::value{};

/// The bit of a mask word that stands for each lane of a register.
template <class Bits, int lanes_of_register>
struct BitOfLane {
    alignas(64) Bits lanes[lanes_of_register];
    constexpr BitOfLane() : lanes() {
        for (int i = 0; i < lanes_of_register; ++i) lanes[i] = static_cast<Bits>(Bits{1} << i);
    }
    static const BitOfLane value;
};
template <class Bits, int lanes_of_register>
constexpr BitOfLane<Bits, lanes_of_register> BitOfLane<Bits, lanes_of_register>::value{};

}  // namespace
}  // namespace gradcoll::nm
