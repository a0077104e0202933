// compress/nm/nm_upper_lanes.hpp - constants for the tie rule of nm_lanes.hpp on CPU registers.
#pragma once

#include <cstddef>

#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {
namespace {

/// -1 in the lanes of a window whose index has `bit` set, else 0.
template <class Bits, int bit>
struct UpperLanes {
    alignas(64) Bits lanes[window_elems];
    constexpr UpperLanes() : lanes() {
        for (std::size_t i = 0; i < window_elems; ++i)
            lanes[i] = static_cast<Bits>((i & bit) != 0 ? ~Bits{0} : Bits{0});
    }
    static const UpperLanes value;
};
template <class Bits, int bit>
constexpr UpperLanes<Bits, bit> UpperLanes<Bits, bit>::value{};

}  // namespace
}  // namespace gradcoll::nm
