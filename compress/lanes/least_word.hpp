// compress/lanes/least_word.hpp - the smallest of 16 integers of 16 bits. Needs AVX2.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace gradcoll {
namespace {

/// Returns the smallest. One instruction does eight of them, which it takes as unsigned.
[[gnu::always_inline]] inline std::int16_t least_word(__m256i words) {
    const __m128i eight =
        _mm_min_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    const __m128i sign = _mm_set1_epi16(static_cast<std::int16_t>(0x8000));
    const __m128i least = _mm_xor_si128(_mm_minpos_epu16(_mm_xor_si128(eight, sign)), sign);
    return static_cast<std::int16_t>(_mm_extract_epi16(least, 0));
}

}  // namespace
}  // namespace gradcoll
