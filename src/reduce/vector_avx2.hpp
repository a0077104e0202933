// reduce/vector_avx2.hpp - what GNU vectors do not say of 256-bit registers. For files that are
// compiled for AVX2 and F16C.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "reduce/vector.hpp"

namespace gradcoll::vectors {
namespace {

struct Avx2 {
    static constexpr std::size_t vector_bytes = 32;
    static constexpr bool converts_fp16 = true;
    using Half = Vector<std::uint16_t, 8>;
    using Floats = Vector<float, 8>;

    [[gnu::always_inline]] static Floats fp16_to_fp32(Half halves) {
        return __builtin_bit_cast(Floats, _mm256_cvtph_ps(__builtin_bit_cast(__m128i, halves)));
    }
    [[gnu::always_inline]] static Half fp32_to_fp16(Floats floats) {
        return __builtin_bit_cast(
            Half, _mm256_cvtps_ph(__builtin_bit_cast(__m256, floats), _MM_FROUND_TO_NEAREST_INT));
    }
    /// Stores past the caches, to an address that is aligned to the vector's size.
    template <class V>
    [[gnu::always_inline]] static void stream(void* to, V vector) {
        if constexpr (sizeof(V) == 16)
            _mm_stream_si128(static_cast<__m128i*>(to), __builtin_bit_cast(__m128i, vector));
        else
            _mm256_stream_si256(static_cast<__m256i*>(to), __builtin_bit_cast(__m256i, vector));
    }
    /// Lets others see what was streamed before.
    static void fence() { _mm_sfence(); }

    /// Returns the larger or the smaller of a and b, if neither is NaN. The instruction gives its
    /// second operand of two zeros.
    template <bool larger, class V>
    [[gnu::always_inline]] static V extreme(V a, V b) {
        if constexpr (sizeof(a[0]) == 4) {
            const auto x = __builtin_bit_cast(__m256, a), y = __builtin_bit_cast(__m256, b);
            return __builtin_bit_cast(
                V, larger ? _mm256_and_ps(_mm256_max_ps(x, y), _mm256_max_ps(y, x))
                          : _mm256_or_ps(_mm256_min_ps(x, y), _mm256_min_ps(y, x)));
        } else {
            const auto x = __builtin_bit_cast(__m256d, a), y = __builtin_bit_cast(__m256d, b);
            return __builtin_bit_cast(
                V, larger ? _mm256_and_pd(_mm256_max_pd(x, y), _mm256_max_pd(y, x))
                          : _mm256_or_pd(_mm256_min_pd(x, y), _mm256_min_pd(y, x)));
        }
    }
    /// Returns `nan` where a or b is NaN, else `result`.
    template <class V>
    [[gnu::always_inline]] static V or_nan(V a, V b, V result, V nan) {
        if constexpr (sizeof(a[0]) == 4) {
            const auto unordered = _mm256_cmp_ps(__builtin_bit_cast(__m256, a),
                                                 __builtin_bit_cast(__m256, b), _CMP_UNORD_Q);
            return __builtin_bit_cast(V,
                                      _mm256_blendv_ps(__builtin_bit_cast(__m256, result),
                                                       __builtin_bit_cast(__m256, nan), unordered));
        } else {
            const auto unordered = _mm256_cmp_pd(__builtin_bit_cast(__m256d, a),
                                                 __builtin_bit_cast(__m256d, b), _CMP_UNORD_Q);
            return __builtin_bit_cast(
                V, _mm256_blendv_pd(__builtin_bit_cast(__m256d, result),
                                    __builtin_bit_cast(__m256d, nan), unordered));
        }
    }
};

}  // namespace
}  // namespace gradcoll::vectors
