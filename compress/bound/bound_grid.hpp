// compress/bound/bound_grid.hpp - which values the codes of a block stand for: multiples of a step.
// Every step of the arithmetic is one rounded operation, so that all instruction sets agree.
#pragma once

#include <cstdint>

#include "compress/bound/bound_layout.hpp"
#include "compress/lanes/scalar.hpp"

namespace gradcoll::bound {
namespace {

/// Numbers has what depends on the type that is calculated in.
template <class Wide>
struct Numbers;
template <>
struct Numbers<float> {
    using Bits = std::uint32_t;
    static constexpr float rounder = 0x1.8p23F;  // value + rounder has a whole number in its bits
    static constexpr double largest_code = 0x1p20;
    static constexpr double rounding = 0x1p-24;  // error of one operation, relative
    static constexpr double smallest_abs = 0x1p-120, smallest_step = 0x1p-126;
    static constexpr double largest_step = 0x1p126, largest = 0x1.fffffep127;
};
template <>
struct Numbers<double> {
    using Bits = std::uint64_t;
    static constexpr double rounder = 0x1.8p52;
    static constexpr double largest_code = 0x1p30;
    static constexpr double rounding = 0x1p-53;
    static constexpr double smallest_abs = 0x1p-1016, smallest_step = 0x1p-1022;
    static constexpr double largest_step = 0x1p1022, largest = 0x1.fffffffffffffp1023;
};

/// Returns the magnitude without a branch, which random signs would make slow.
constexpr float magnitude(float value) {
    return __builtin_fabsf(value);
}
constexpr double magnitude(double value) {
    return __builtin_fabs(value);
}

/// Returns a value rounded to the element's type.
template <class T>
inline typename T::Wide rounded_to(typename T::Wide value) {
    return ScalarLanes<T>::widen(ScalarLanes<T>::narrow(value));
}

/// Tolerance is what a call may lose an element.
template <class Wide>
struct Tolerance {
    using N = Numbers<Wide>;

    double abs;
    /// The limit is less than `abs` by so much that no rounding of a difference hides one that is
    /// larger.
    Wide limit;

    static constexpr Tolerance of(double abs) {
        if (!(abs > 0)) return {0, 0};
        const double possible = abs < N::largest ? abs : N::largest;
        const bool is_normal = abs >= N::smallest_abs;
        return {abs, is_normal ? static_cast<Wide>(possible * (1 - 4 * N::rounding)) : Wide{0}};
    }
    /// Returns whether `sent` may stand for `value`. No NaN comes in.
    constexpr bool takes(Wide value, Wide sent) const { return magnitude(value - sent) <= limit; }
};

/// In a Grid code q stands for q * step.
template <class Wide>
struct Grid {
    Wide step, inverse;

    static std::uint32_t whole(Wide shifted) {
        using Bits = typename Numbers<Wide>::Bits;
        return static_cast<std::uint32_t>(bit_copy<Bits>(shifted) -
                                          bit_copy<Bits>(Numbers<Wide>::rounder));
    }
    Wide shifted(Wide value) const { return value * inverse + Numbers<Wide>::rounder; }
    /// Returns the code in two's complement.
    std::uint32_t code_of(Wide value) const { return whole(shifted(value)); }
    Wide value_of(std::uint32_t code) const {
        return static_cast<Wide>(static_cast<std::int32_t>(code)) * step;
    }
};

/// Survey is what is known of a block's values.
template <class Wide>
struct Survey {
    Wide lowest, highest;
    bool has_specials;       ///< NaN or Inf; then the others mean nothing
    bool has_small = false;  ///< magnitudes below what was asked for, or -0, are there
};

/// Differences are those between neighbouring codes.
struct Differences {
    std::int32_t least, most;
    std::uint32_t span() const {
        return static_cast<std::uint32_t>(most) - static_cast<std::uint32_t>(least);
    }
};

/// Returns half of what neighbouring elements differ by, up to a magnitude.
template <class T>
constexpr double half_unit(double magnitude) {
    if constexpr (sizeof(typename T::Bits) == sizeof(typename T::Wide)) {
        return 0;  // in Tolerance
    } else {
        constexpr double smallest = T::fraction_bits == 10 ? 0x1p-25 : 0x1p-134;
        constexpr double half = 0.5 / (1 << T::fraction_bits);
        const auto bits = bit_copy<std::uint64_t>(magnitude) & 0x7ff0000000000000u;
        const double unit = bit_copy<double>(bits) * half;
        return unit > smallest ? unit : smallest;
    }
}

/// Returns the number of bits, at least 1, of codes up to `most`.
inline int bits_of(std::uint32_t most) {
    return 32 - __builtin_clz(most | 1u);
}

/// BlockPlan says how a block is to be sent.
template <class T>
struct BlockPlan {
    using Wide = typename T::Wide;
    using N = Numbers<Wide>;

    enum class Kind { plain, constant, codes };
    Kind kind = Kind::plain;
    Wide value = 0;  ///< constant
    Grid<Wide> grid{};
    std::uint32_t lowest = 0;  ///< code
    int width = 0;

    static BlockPlan of(const Survey<Wide>& survey, const Tolerance<Wide>& tolerance) {
        if (survey.has_specials || tolerance.abs == 0) return {};
        Wide value;
        if (is_constant(survey, tolerance, value)) return {Kind::constant, value};
        const Wide step = step_for(survey, tolerance);
        if (step == 0) return {};
        const Grid<Wide> grid{step, 1 / step};
        const std::uint32_t lowest = grid.code_of(survey.lowest);
        const int width = bits_of(grid.code_of(survey.highest) - lowest);
        return {Kind::codes, 0, grid, lowest, width};
    }

  private:
    static bool is_constant(const Survey<Wide>& s, const Tolerance<Wide>& tolerance, Wide& value) {
        value = rounded_to<T>(s.lowest + Wide{0});  // never -0
        if (s.lowest == s.highest) return value - value == Wide{0};
        value = 0;
        if (tolerance.takes(s.lowest, 0) && tolerance.takes(s.highest, 0)) return true;
        if (s.lowest <= 0 && s.highest >= 0) return false;
        value = rounded_to<T>(s.lowest + (s.highest - s.lowest) / 2);
        return tolerance.takes(s.lowest, value) && tolerance.takes(s.highest, value);
    }

    /// Returns the largest step that keeps the promise, whatever is rounded on the way; 0 if there
    /// is none.
    static Wide step_for(const Survey<Wide>& s, const Tolerance<Wide>& tolerance) {
        const double low = magnitude(s.lowest), high = magnitude(s.highest);
        const double most = low > high ? low : high;
        const double half = half_unit<T>(most + tolerance.abs);
        const double narrowing = half < tolerance.abs / 2 ? half : tolerance.abs / 2;
        const double left = tolerance.abs - narrowing - 4 * N::rounding * most;
        const double step = 2 * left * (1 - 16 * N::rounding);
        if (!(step >= N::smallest_step) || most > step * N::largest_code) return 0;
        return static_cast<Wide>(step < N::largest_step ? step : N::largest_step);
    }
};

}  // namespace
}  // namespace gradcoll::bound
