// reduce/vector_avx512.hpp - what GNU vectors do not say of 512-bit registers. For files that are
// compiled for AVX-512 F, BW, DQ and VL.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "reduce/vector.hpp"

namespace gradcoll::vectors {
namespace {

struct Avx512 {
    static constexpr std::size_t vector_bytes = 64;
    static constexpr bool converts_fp16 = true;
    using Half = Vector<std::uint16_t, 16>;
    using Floats = Vector<float, 16>;
    // The unmasked intrinsics of gcc 12 read an uninitialized variable by design, and it warns
    // about that.
    static constexpr __mmask16 all_lanes = 0xffff;

    [[gnu::always_inline]] static Floats fp16_to_fp32(Half halves) {
        return __builtin_bit_cast(
            Floats, _mm512_maskz_cvtph_ps(all_lanes, __builtin_bit_cast(__m256i, halves)));
    }
    [[gnu::always_inline]] static Half fp32_to_fp16(Floats floats) {
        return __builtin_bit_cast(
            Half, _mm512_maskz_cvtps_ph(all_lanes, __builtin_bit_cast(__m512, floats),
                                        _MM_FROUND_TO_NEAREST_INT));
    }
    /// Stores past the caches, to an address that is aligned to the vector's size.
    template <class V>
    [[gnu::always_inline]] static void stream(void* to, V vector) {
        if constexpr (sizeof(V) == 32)
            _mm256_stream_si256(static_cast<__m256i*>(to), __builtin_bit_cast(__m256i, vector));
        else
            _mm512_stream_si512(static_cast<__m512i*>(to), __builtin_bit_cast(__m512i, vector));
    }
    /// Lets others see what was streamed before.
    static void fence() { _mm_sfence(); }

    /// Returns the larger or the smaller of a and b, if neither is NaN.
    template <bool larger, class V>
    [[gnu::always_inline]] static V extreme(V a, V b) {
        constexpr int compares_signs_too = larger ? 0b0101 : 0b0100;  // the result has its own sign
        if constexpr (sizeof(a[0]) == 4)
            return __builtin_bit_cast(
                V, _mm512_maskz_range_ps(all_lanes, __builtin_bit_cast(__m512, a),
                                         __builtin_bit_cast(__m512, b), compares_signs_too));
        else
            return __builtin_bit_cast(
                V, _mm512_maskz_range_pd(__mmask8{0xff}, __builtin_bit_cast(__m512d, a),
                                         __builtin_bit_cast(__m512d, b), compares_signs_too));
    }
    /// Returns `nan` where a or b is NaN, else `result`.
    template <class V>
    [[gnu::always_inline]] static V or_nan(V a, V b, V result, V nan) {
        if constexpr (sizeof(a[0]) == 4) {
            const auto unordered = _mm512_cmp_ps_mask(__builtin_bit_cast(__m512, a),
                                                      __builtin_bit_cast(__m512, b), _CMP_UNORD_Q);
            return __builtin_bit_cast(
                V, _mm512_mask_mov_ps(__builtin_bit_cast(__m512, result), unordered,
                                      __builtin_bit_cast(__m512, nan)));
        } else {
            const auto unordered = _mm512_cmp_pd_mask(__builtin_bit_cast(__m512d, a),
                                                      __builtin_bit_cast(__m512d, b), _CMP_UNORD_Q);
            return __builtin_bit_cast(
                V, _mm512_mask_mov_pd(__builtin_bit_cast(__m512d, result), unordered,
                                      __builtin_bit_cast(__m512d, nan)));
        }
    }
};

}  // namespace
}  // namespace gradcoll::vectors
