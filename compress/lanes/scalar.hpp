// compress/lanes/scalar.hpp - arithmetic on one element: the reference that the vector versions
// equal bit for bit.
//
// Every lanes header offers the same vocabulary for a float format T: Reg holds `elems` values as
// they lie in memory, Wide the same values in the format we calculate in (fp32; fp64 for fp64). All
// of it has internal linkage, because each including file is compiled for another instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reduce/float_types.hpp"
#include "reduce/half.hpp"

namespace gradcoll {
namespace {

/// Copies bits, also of vector registers, of which g++ calculates none ahead of time.
template <class To, class From>
constexpr To bit_copy(From from) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

/// Converts exactly; a signalling NaN becomes quiet, as the instruction does. It has branches,
/// unlike the function of half.hpp, which is for vectors, too: that is a fifth faster.
inline float fp16_to_fp32(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1fu;
    const std::uint32_t fraction = half & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
        const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
        return bit_copy<float>(sign | bit_copy<std::uint32_t>(magnitude));
    }
    if (exponent == 31) {
        const std::uint32_t quiet = fraction != 0 ? 0x400000u : 0u;
        return bit_copy<float>(sign | 0x7f800000u | quiet | (fraction << 13));
    }
    return bit_copy<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

/// Rounds to nearest even; too large becomes Inf, NaN stays NaN (quiet).
inline std::uint16_t fp32_to_fp16(float value) {
    const std::uint32_t bits = bit_copy<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000u) {
        half = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    } else if (magnitude >= 0x477ff000u) {  // rounds to 2^16 or more
        half = 0x7c00u;
    } else if (magnitude >= 0x38800000u) {  // normal in fp16; a carry out of the fraction is right
        half = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    } else {  // adding 0.5 leaves the fp16 subnormal, rounded to nearest even, in the low bits
        half = bit_copy<std::uint32_t>(bit_copy<float>(magnitude) + 0.5f) - 0x3f000000u;
    }
    return static_cast<std::uint16_t>(sign | half);
}

template <class T>
struct ScalarConvert {  // fp32 and fp64 are calculated in as they are
    static typename T::Wide widen(typename T::Bits bits) {
        return bit_copy<typename T::Wide>(bits);
    }
    static typename T::Bits narrow(typename T::Wide wide) {
        return bit_copy<typename T::Bits>(wide);
    }
};
template <>
struct ScalarConvert<Fp16> {
    static float widen(std::uint16_t bits) { return fp16_to_fp32(bits); }
    static std::uint16_t narrow(float wide) { return fp32_to_fp16(wide); }
};
template <>
struct ScalarConvert<Bf16> {
    static float widen(std::uint16_t bits) { return float_from_bf16(bits); }
    static std::uint16_t narrow(float wide) { return bf16_from_float(wide); }
};

template <class T>
struct ScalarLanes : ScalarConvert<T> {
    using Format = T;
    using Reg = typename T::Bits;
    using Wide = typename T::Wide;
    static constexpr std::size_t elems = 1;
    static constexpr bool streams = false;

    static Reg load(const void* from) { return read<Reg>(from); }
    static void store(void* to, Reg reg) { std::memcpy(to, &reg, sizeof reg); }
    static Wide load_wide(const void* from) { return read<Wide>(from); }
    static void store_wide(void* to, Wide wide) { std::memcpy(to, &wide, sizeof wide); }
    static Wide add(Wide a, Wide b) { return a + b; }
    static Wide subtract(Wide a, Wide b) { return a - b; }
    static Wide finite_or_zero(Wide wide) { return wide - wide == Wide{0} ? wide : Wide{0}; }

  private:
    template <class V>
    static V read(const void* from) {
        V value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
};

/// GRADCOLL_ISA is a type like this one: it says which lanes an instruction set has, and whether
/// they are vectors, for which a codec may have code of another form.
struct Scalar {
    template <class Format>
    using Lanes = ScalarLanes<Format>;
    static constexpr bool has_vectors = false;
};

}  // namespace
}  // namespace gradcoll
