// half.hpp - the two 16-bit float formats in plain arithmetic that compilers vectorise, so that the
// peer's user op (peer_op.cpp) is not slowed down by library calls. Rounding: to nearest, ties to
// even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gradcoll::bench {

/// Float16 is an IEEE 754 binary16.
struct Float16 {
    std::uint16_t bits;
};

/// BFloat16 is the upper half of an IEEE 754 binary32.
struct BFloat16 {
    std::uint16_t bits;
};

inline float to_float(BFloat16 value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline float to_float(Float16 value) {
    const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
    const std::uint32_t magnitude = value.bits & 0x7fffu;
    // The exponent field is 112 too low for binary32; the product corrects that, also for
    // denormals.
    const float finite = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    const std::uint32_t special = (magnitude << 13) | 0x7f800000u;
    const std::uint32_t bits = magnitude < 0x7c00u ? std::bit_cast<std::uint32_t>(finite) : special;
    return std::bit_cast<float>(bits | sign);
}

inline void store(float value, float& out) {
    out = value;
}
inline void store(float value, BFloat16& out) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    out.bits = static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
}

inline void store(float value, Float16& out) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude_bits = bits & 0x7fffffffu;
    // Below 65520 everything rounds to a finite half; the clamp keeps the arithmetic below in
    // range.
    const float magnitude =
        std::bit_cast<float>(magnitude_bits < 0x477ff000u ? magnitude_bits : 0u);
    const std::uint32_t exponent_bits = std::bit_cast<std::uint32_t>(magnitude) & 0x7f800000u;
    const std::uint32_t power = exponent_bits < 0x38800000u ? 0x38800000u : exponent_bits;
    // Adding 2^(e+13) leaves 23-13 = 10 mantissa bits: the FPU rounds as binary16 must.
    const std::uint32_t anchor = power + (13u << 23);
    const float rounded = magnitude + std::bit_cast<float>(anchor);
    const std::uint32_t steps = std::bit_cast<std::uint32_t>(rounded) - anchor;
    const std::uint32_t finite = ((power - 0x38800000u) >> 13) + steps;
    const std::uint32_t special = magnitude_bits > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const std::uint32_t half = magnitude_bits < 0x477ff000u ? finite : special;
    out.bits = static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000u));
}

}  // namespace gradcoll::bench
