// compress/lanes/neon.hpp - the lanes vocabulary (lanes/scalar.hpp) on the 128-bit registers of
// AArch64.
#pragma once

#include "compress/lanes/vector.hpp"
#include "reduce/vector_neon.hpp"

namespace gradcoll {
namespace {

struct Neon : vectors::Neon, PlainArithmetic {
    template <class Format>
    using Lanes = VectorLanes<Neon, Format>;
    static constexpr bool has_vectors = true;
    static constexpr bool streams = false;
    using Words = Vector<std::uint16_t, 8>;
    using Whole = Vector<std::int16_t, 8>;
    using Lanes32 = Vector<std::uint32_t, 4>;
    using Doubles = Vector<double, 2>;

    static Half lower(Words words) {
        return bit_copy<Half>(vget_low_u16(bit_copy<uint16x8_t>(words)));
    }
    static Half upper(Words words) {
        return bit_copy<Half>(vget_high_u16(bit_copy<uint16x8_t>(words)));
    }
    static Words joined(Half low, Half high) {
        return bit_copy<Words>(vcombine_u16(bit_copy<uint16x4_t>(low), bit_copy<uint16x4_t>(high)));
    }
    static Lanes32 spread_low(Words words) { return spread(lower(words)); }
    static Lanes32 spread_high(Words words) { return spread(upper(words)); }

    template <class V>
    static V smaller(V a, V b) {
        return a < b ? a : b;
    }
    template <class V>
    static V larger(V a, V b) {
        return a > b ? a : b;
    }
    static float smallest(Floats a) { return vminvq_f32(bit_copy<float32x4_t>(a)); }
    static float largest(Floats a) { return vmaxvq_f32(bit_copy<float32x4_t>(a)); }
    static double smallest(Doubles a) { return vminvq_f64(bit_copy<float64x2_t>(a)); }
    static double largest(Doubles a) { return vmaxvq_f64(bit_copy<float64x2_t>(a)); }
    static std::int16_t smallest(Whole a) { return vminvq_s16(bit_copy<int16x8_t>(a)); }
    static std::int16_t largest(Whole a) { return vmaxvq_s16(bit_copy<int16x8_t>(a)); }

    template <class V>
    static bool any(V bits) {
        return vmaxvq_u32(bit_copy<uint32x4_t>(bits)) != 0;
    }

  private:
    static Lanes32 spread(Half words) {
        return bit_copy<Lanes32>(vshll_n_u16(bit_copy<uint16x4_t>(words), 16));
    }
};

/// Returns the bit that each of 16 bytes has in a byte of eight of them.
inline uint8x16_t bit_of_byte() {
    return vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
}

/// Returns the highest bit of each of 64 bytes, each of which is 0 or 255.
inline std::uint64_t bits_of_flags(const uint8x16_t (&flags)[4]) {
    const uint8x16_t place = bit_of_byte();
    const uint8x16_t low = vpaddq_u8(vandq_u8(flags[0], place), vandq_u8(flags[1], place));
    const uint8x16_t high = vpaddq_u8(vandq_u8(flags[2], place), vandq_u8(flags[3], place));
    const uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

}  // namespace
}  // namespace gradcoll
