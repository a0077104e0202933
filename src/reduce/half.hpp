// reduce/half.hpp - fp16 and bf16 to fp32 and back, to nearest even: the reference that all kernels
// equal. The `*_bits` functions work on one value (std::uint32_t) and on vectors of them alike.
// Everything is forced inline: files for several instruction sets include this, and a shared copy
// could hold instructions the CPU lacks.
//
// NaN stays NaN and becomes quiet; the top bits of its payload are kept. Overflow gives infinity.
// Subnormals are kept. This equals VCVTPH2PS and VCVTPS2PH. Layouts: IEEE 754-2019 binary16; bf16
// is the upper half of binary32.
#pragma once

#include <cstdint>

namespace gradcoll {

/// Returns the bits of the fp32 value of fp16 bits. F32 is float, or a vector as long as U32.
template <class F32, class U32>
[[gnu::always_inline]] constexpr U32 f32_bits_from_f16_bits(U32 half) {
    constexpr std::uint32_t rebias = (127U - 15U) << 23;
    constexpr std::uint32_t exponent_mask = 0x1fU << 23;  // where the exponent of the fp16 lands
    constexpr std::uint32_t quiet_bit = 1U << 22;
    const U32 sign = (half & 0x8000U) << 16;
    const U32 shifted = (half & 0x7fffU) << 13;
    const U32 exponent = shifted & exponent_mask;
    const U32 normal = shifted + rebias;
    // A subnormal becomes normal through one exact subtraction: (1 + m) 2^-14 - 2^-14.
    const F32 smallest_normal = __builtin_bit_cast(F32, (shifted & 0U) + ((127U - 14U) << 23));
    const F32 difference = __builtin_bit_cast(F32, normal + (1U << 23)) - smallest_normal;
    const U32 subnormal = __builtin_bit_cast(U32, difference);
    const U32 infinity = normal + rebias;
    const U32 nan = infinity | quiet_bit;
    const U32 special = (shifted & 0x7fffffU) != 0U ? nan : infinity;
    const U32 finite = exponent == 0U ? subnormal : normal;
    const U32 magnitude = exponent == exponent_mask ? special : finite;
    return sign | magnitude;
}

/// Returns the fp16 bits nearest to the fp32 value with these bits.
template <class F32, class U32>
[[gnu::always_inline]] constexpr U32 f16_bits_from_f32_bits(U32 bits) {
    constexpr float too_large = 65536.0F;
    constexpr float smallest_normal = 0x1p-14F;
    constexpr std::uint32_t magic = (127U - 15U + 23U - 10U + 1U) << 23;  // its last place is 2^-24
    const U32 sign = (bits >> 16) & 0x8000U;
    const U32 magnitude = bits & 0x7fffffffU;
    // Compared as fp32, for vectors of unsigned integers cannot be compared in one instruction
    // everywhere.
    const F32 value = __builtin_bit_cast(F32, magnitude);
    // Adding the magic number makes the FPU round a subnormal result at the right place.
    const F32 sum = value + __builtin_bit_cast(F32, (bits & 0U) + magic);
    const U32 subnormal = __builtin_bit_cast(U32, sum) - magic;
    const U32 odd = (magnitude >> 13) & 1U;
    const U32 normal = (magnitude - ((127U - 15U) << 23) + 0xfffU + odd) >> 13;
    const U32 nan = ((magnitude >> 13) & 0x3ffU) | 0x7e00U;
    const U32 infinity = (bits & 0U) + 0x7c00U;
    const U32 finite = value < smallest_normal ? subnormal : normal;
    const U32 number = value < too_large ? finite : infinity;
    return sign | (value == value ? number : nan);
}

/// Returns the fp32 bits of the value of bf16 bits.
template <class U32>
[[gnu::always_inline]] constexpr U32 f32_bits_from_bf16_bits(U32 half) {
    return half << 16;
}

/// Returns the bf16 bits nearest to the fp32 value with these bits.
template <class F32, class U32>
[[gnu::always_inline]] constexpr U32 bf16_bits_from_f32_bits(U32 bits) {
    constexpr std::uint32_t quiet_bit = 1U << 22;
    const F32 value = __builtin_bit_cast(F32, bits);
    const U32 odd = (bits >> 16) & 1U;
    const U32 rounded = bits + (odd + 0x7fffU);
    const U32 nan = bits | quiet_bit;
    return (value == value ? rounded : nan) >> 16;
}

[[gnu::always_inline]] constexpr float float_from_f16(std::uint16_t half) {
    return __builtin_bit_cast(float, f32_bits_from_f16_bits<float>(std::uint32_t{half}));
}

[[gnu::always_inline]] constexpr std::uint16_t f16_from_float(float value) {
    return static_cast<std::uint16_t>(
        f16_bits_from_f32_bits<float>(__builtin_bit_cast(std::uint32_t, value)));
}

[[gnu::always_inline]] constexpr float float_from_bf16(std::uint16_t half) {
    return __builtin_bit_cast(float, f32_bits_from_bf16_bits(std::uint32_t{half}));
}

[[gnu::always_inline]] constexpr std::uint16_t bf16_from_float(float value) {
    return static_cast<std::uint16_t>(
        bf16_bits_from_f32_bits<float>(__builtin_bit_cast(std::uint32_t, value)));
}

}  // namespace gradcoll
