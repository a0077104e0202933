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
};

}  // namespace
}  // namespace gradcoll::vectors
