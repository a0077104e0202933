// reduce/float_extremes.hpp - the smaller or the larger of two floats, by one rule on every way:
// NaN if either is NaN, always the same one; and -0 is below +0. (minimum and maximum of IEEE
// 754-2019, but for the payload of NaN.) So the result depends on the operands alone, not on their
// order or grouping. Everything is forced inline, as in half.hpp and for the same reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "reduce/float_types.hpp"
#include "reduce/vector.hpp"

namespace gradcoll {

/// FloatExtremes combine fp32 and fp64 by the comparisons that Target has for them.
template <class Target, class Format>
struct FloatExtremes {
    static constexpr std::size_t element_bytes = sizeof(typename Format::Bits);
    static constexpr std::size_t block_bytes = Target::vector_bytes;
    using Value = Vector<typename Format::Wide, block_bytes / element_bytes>;

    template <class Op>
    [[gnu::always_inline]] static Value apply(Value a, Value b) {
        const auto nan = __builtin_bit_cast(typename Format::Wide, quiet_nan_bits<Format>());
        return Target::or_nan(a, b, Target::template extreme<Op::takes_larger>(a, b),
                              Value{} + nan);
    }
};

/// HalfExtremes combine two-byte floats as integers that are ordered as their values are.
template <class Target, class Format>
struct HalfExtremes {
    static constexpr std::size_t element_bytes = 2;
    static constexpr std::size_t block_bytes = Target::vector_bytes;
    using Value = Vector<std::int16_t, block_bytes / 2>;

    template <class Op>
    [[gnu::always_inline]] static Value apply(Value a, Value b) {
        const Value first = turned(a), second = turned(b);
        const Value lower = first < second ? first : second;
        const Value higher = first > second ? first : second;
        const auto has_nan = (higher > infinity) | (lower < least);
        return has_nan ? Value{} + nan : turned(Op::takes_larger ? higher : lower);
    }

  private:
    static constexpr auto infinity = static_cast<std::int16_t>(infinity_bits<Format>());
    static constexpr auto least = static_cast<std::int16_t>(~infinity);  ///< -Inf, turned
    static constexpr auto nan = static_cast<std::int16_t>(quiet_nan_bits<Format>());

    /// Turns the magnitudes of negative numbers round; it is its own inverse.
    [[gnu::always_inline]] static Value turned(Value bits) {
        return bits ^ ((bits >> 15) & std::int16_t{0x7fff});
    }
};

}  // namespace gradcoll
