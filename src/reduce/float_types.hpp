// reduce/float_types.hpp - the float formats as tags: how they lie in memory and in which format we
// calculate.
#pragma once

#include <cstdint>

#include "reduce/element_type.hpp"

namespace gradcoll {

struct Fp16 {
    using Bits = std::uint16_t;
    using Wide = float;
    static constexpr int fraction_bits = 10;
};
struct Bf16 {
    using Bits = std::uint16_t;
    using Wide = float;
    static constexpr int fraction_bits = 7;
};
struct Fp32 {
    using Bits = std::uint32_t;
    using Wide = float;
    static constexpr int fraction_bits = 23;
};
struct Fp64 {
    using Bits = std::uint64_t;
    using Wide = double;
    static constexpr int fraction_bits = 52;
};

/// Returns make(Format{}) for the format of a floating-point type; for others an empty result.
template <class Make>
auto for_float_type(ElementType type, Make make) -> decltype(make(Fp32{})) {
    if (type == ElementType::f16) return make(Fp16{});
    if (type == ElementType::bf16) return make(Bf16{});
    if (type == ElementType::f32) return make(Fp32{});
    if (type == ElementType::f64) return make(Fp64{});
    return {};
}

/// Returns the bits of the largest finite value. Among values without a sign, only Inf (the next)
/// and NaN are above it, as integers.
template <class Format>
constexpr typename Format::Bits largest_finite_bits() {
    using Bits = typename Format::Bits;
    return static_cast<Bits>((static_cast<Bits>(~Bits{0}) >> 1) -
                             (Bits{1} << Format::fraction_bits));
}

/// Returns the bits of Inf without a sign.
template <class Format>
constexpr typename Format::Bits infinity_bits() {
    return static_cast<typename Format::Bits>(largest_finite_bits<Format>() + 1);
}

/// Returns the bits of the quiet NaN without a sign and payload.
template <class Format>
constexpr typename Format::Bits quiet_nan_bits() {
    using Bits = typename Format::Bits;
    return static_cast<Bits>(infinity_bits<Format>() | Bits{1} << (Format::fraction_bits - 1));
}

}  // namespace gradcoll
