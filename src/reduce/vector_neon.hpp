// reduce/vector_neon.hpp - what GNU vectors do not say of the 128-bit registers of AArch64.
#pragma once

#include <arm_neon.h>

#include <cstdint>

#include "reduce/vector_scalar.hpp"

namespace gradcoll::vectors {
namespace {

/// Neon has registers as long as the vectors of Scalar, which compilers lower to them.
struct Neon : Scalar {
    static constexpr bool converts_fp16 = true;
    using Half = Vector<std::uint16_t, 4>;
    using Floats = Vector<float, 4>;

    [[gnu::always_inline]] static Floats fp16_to_fp32(Half halves) {
        return __builtin_bit_cast(Floats, vcvt_f32_f16(__builtin_bit_cast(float16x4_t, halves)));
    }
    [[gnu::always_inline]] static Half fp32_to_fp16(Floats floats) {
        return __builtin_bit_cast(Half, vcvt_f16_f32(__builtin_bit_cast(float32x4_t, floats)));
    }

    /// Returns the larger or the smaller of a and b, if neither is NaN. The instruction knows that
    /// +0 is larger than -0.
    template <bool larger, class V>
    [[gnu::always_inline]] static V extreme(V a, V b) {
        if constexpr (sizeof(a[0]) == 4) {
            const auto x = __builtin_bit_cast(float32x4_t, a),
                       y = __builtin_bit_cast(float32x4_t, b);
            return __builtin_bit_cast(V, larger ? vmaxq_f32(x, y) : vminq_f32(x, y));
        } else {
            const auto x = __builtin_bit_cast(float64x2_t, a),
                       y = __builtin_bit_cast(float64x2_t, b);
            return __builtin_bit_cast(V, larger ? vmaxq_f64(x, y) : vminq_f64(x, y));
        }
    }
};

}  // namespace
}  // namespace gradcoll::vectors
