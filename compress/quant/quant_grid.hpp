// compress/quant/quant_grid.hpp - the values that the codes of a block stand for: offset + code x
// scale. Shared by host and device. Every step is one rounded operation, so that all of them agree
// bit for bit: products and sums are not fused (-ffp-contract=off, -fmad=false).
#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/quant/quant_layout.hpp"
#include "reduce/float_types.hpp"

namespace gradcoll::quant {
namespace {

/// WideFormat describes the type that is calculated in: fp32 or fp64.
template <class Wide>
struct WideFormat;
template <>
struct WideFormat<float> {
    using Bits = std::uint32_t;
    static constexpr float smallest_normal = 0x1p-126F;
    static constexpr float rounder = 0x1.8p23F;  // + rounder - rounder: to the nearest integer
};
template <>
struct WideFormat<double> {
    using Bits = std::uint64_t;
    static constexpr double smallest_normal = 0x1p-1022;
    static constexpr double rounder = 0x1.8p52;
};

/// Rounds to the nearest integer, or to the even one of two; |value| is far below 2^22.
template <class Wide>
constexpr Wide to_nearest(Wide value) {
    return value + WideFormat<Wide>::rounder - WideFormat<Wide>::rounder;
}

template <class Wide>
struct Grid {
    Wide scale;    ///< distance of neighbouring codes; negative: the outermost codes are specials
    Wide offset;   ///< what code 0 stands for
    Wide inverse;  ///< 1 / scale, for encoding; 0 if all values are equal

    /// Returns a grid for finite values from `lowest` to `highest`. Zero, if it is among them, is
    /// offset + code x scale for a whole code: both products are then rounded the same way. Halves
    /// do not overflow, and a scale that is normal has a finite inverse.
    static constexpr Grid over(Wide lowest, Wide highest, CodeRange codes) {
        if (lowest == highest) return {0, lowest + Wide{0}, 0};  // never -0
        const Wide half_steps = static_cast<Wide>(codes.highest - codes.lowest) / 2;
        const Wide exact = (highest * Wide{0.5} - lowest * Wide{0.5}) / half_steps;
        constexpr Wide smallest = WideFormat<Wide>::smallest_normal;
        const Wide scale = exact > smallest ? exact : smallest;
        const Wide inverse = 1 / scale, first = static_cast<Wide>(codes.lowest);
        if (lowest > 0 || highest < 0) return {scale, lowest - first * scale, inverse};
        const Wide zero_point = first - to_nearest(lowest * inverse);
        return {scale, Wide{0} - zero_point * scale, inverse};
    }

    /// Returns the number of steps from code 0 to a finite value, no further than the codes go.
    constexpr Wide steps_to(Wide value, CodeRange codes) const {
        const Wide steps = (value - offset) * inverse;
        const auto lowest = static_cast<Wide>(codes.lowest);
        const auto highest = static_cast<Wide>(codes.highest);
        const Wide below = steps < highest ? steps : highest;
        return below > lowest ? below : lowest;
    }
    /// Returns the code of a finite value that the grid was made for.
    constexpr int code_of(Wide value, CodeRange codes) const {
        return static_cast<int>(to_nearest(steps_to(value, codes)));
    }

    /// Returns the value of a code. The last step may reach beyond the largest value of the type,
    /// by half a step, and its product beyond that of `Wide`: then all is done once more in halves.
    constexpr Wide value_of(int code, Wide largest) const {
        const Wide value = offset + static_cast<Wide>(code) * scale;
        if (value <= largest && value >= -largest) return value;
        const Wide half = offset / 2 + static_cast<Wide>(code) * (scale / 2);
        const Wide below = half < largest / 2 ? half : largest / 2;
        return 2 * (below > -largest / 2 ? below : -largest / 2);
    }
};

template <class Wide>
constexpr bool is_finite(Wide value) {
    return value - value == Wide{0};
}
template <class Wide>
constexpr bool is_negative(Wide value) {
    using Bits = typename WideFormat<Wide>::Bits;
    return __builtin_bit_cast(Bits, value) >> (8 * sizeof(Bits) - 1) != 0;
}
template <class Wide>
constexpr Wide magnitude(Wide value) {
    return is_negative(value) ? -value : value;
}

/// Returns the code of NaN or Inf in a block that has such.
template <class W, class Wide>
constexpr int special_of(Wide value) {
    if (value != value) return W::nan;
    return value < 0 ? W::minus_inf : W::plus_inf;
}
template <class W>
constexpr bool is_special(int code) {
    return code <= W::minus_inf || code >= W::plus_inf;
}
/// Returns the element that such a code stands for; NaN is the positive quiet one without payload.
template <class W, class Format>
constexpr typename Format::Bits special(int code) {
    using Bits = typename Format::Bits;
    constexpr auto inf = static_cast<Bits>(largest_finite_bits<Format>() + 1);
    constexpr auto quiet = static_cast<Bits>(Bits{1} << (Format::fraction_bits - 1));
    constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    if (code == W::nan) return static_cast<Bits>(inf | quiet);
    return code == W::minus_inf ? static_cast<Bits>(inf | sign) : inf;
}

}  // namespace
}  // namespace gradcoll::quant
