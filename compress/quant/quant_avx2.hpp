// compress/quant/quant_avx2.hpp - what quant_vector_block.hpp asks of 256-bit registers. Needs
// AVX2.
#pragma once

#include "compress/lanes/avx2.hpp"

namespace gradcoll::quant {
namespace {

struct QuantAvx2 : Avx2 {
    template <class Code>
    static void store_codes(std::byte* to, Floats steps) {
        const __m256i codes = _mm256_cvtps_epi32(bit_copy<__m256>(steps));
        const __m128i words =
            _mm_packs_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256(codes, 1));
        if constexpr (sizeof(Code) == 1)
            store_vector(to, _mm_cvtsi128_si64(_mm_packs_epi16(words, words)));
        else
            store_vector(to, words);
    }
    template <class Code>
    static void store_codes(std::byte* to, Doubles steps) {
        const __m128i codes = _mm256_cvtpd_epi32(bit_copy<__m256d>(steps));
        const __m128i words = _mm_packs_epi32(codes, codes);
        if constexpr (sizeof(Code) == 1)
            store_vector(to, _mm_cvtsi128_si32(_mm_packs_epi16(words, words)));
        else
            store_vector(to, _mm_cvtsi128_si64(words));
    }
    template <class Code>
    static Floats load_codes(const std::byte* from, Floats) {
        __m256i codes;
        if constexpr (sizeof(Code) == 1)
            codes = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(load_vector<long long>(from)));
        else
            codes = _mm256_cvtepi16_epi32(load_vector<__m128i>(from));
        return bit_copy<Floats>(_mm256_cvtepi32_ps(codes));
    }
    template <class Code>
    static Doubles load_codes(const std::byte* from, Doubles) {
        __m128i codes;
        if constexpr (sizeof(Code) == 1)
            codes = _mm_cvtepi8_epi32(_mm_cvtsi32_si128(load_vector<int>(from)));
        else
            codes = _mm_cvtepi16_epi32(_mm_cvtsi64_si128(load_vector<long long>(from)));
        return bit_copy<Doubles>(_mm256_cvtepi32_pd(codes));
    }
};

}  // namespace
}  // namespace gradcoll::quant
