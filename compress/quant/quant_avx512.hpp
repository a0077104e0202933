// compress/quant/quant_avx512.hpp - what quant_vector_block.hpp asks of 512-bit registers. Needs
// AVX-512 F, BW, VL, DQ.
#pragma once

#include "compress/lanes/avx512.hpp"

namespace gradcoll::quant {
namespace {

struct QuantAvx512 : Avx512 {
    template <class Code>
    static void store_codes(std::byte* to, Floats steps) {
        const __m512i codes = _mm512_cvtps_epi32(bit_copy<__m512>(steps));
        if constexpr (sizeof(Code) == 1)
            store_vector(to, _mm512_cvtepi32_epi8(codes));
        else
            store_vector(to, _mm512_cvtepi32_epi16(codes));
    }
    template <class Code>
    static void store_codes(std::byte* to, Doubles steps) {
        const __m256i codes = _mm512_cvtpd_epi32(bit_copy<__m512d>(steps));
        if constexpr (sizeof(Code) == 1)
            store_vector(to, _mm_cvtsi128_si64(_mm256_cvtepi32_epi8(codes)));
        else
            store_vector(to, _mm256_cvtepi32_epi16(codes));
    }
    template <class Code>
    static Floats load_codes(const std::byte* from, Floats) {
        __m512i codes;
        if constexpr (sizeof(Code) == 1)
            codes = _mm512_cvtepi8_epi32(load_vector<__m128i>(from));
        else
            codes = _mm512_cvtepi16_epi32(load_vector<__m256i>(from));
        return bit_copy<Floats>(_mm512_cvtepi32_ps(codes));
    }
    template <class Code>
    static Doubles load_codes(const std::byte* from, Doubles) {
        __m256i codes;
        if constexpr (sizeof(Code) == 1)
            codes = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(load_vector<long long>(from)));
        else
            codes = _mm256_cvtepi16_epi32(load_vector<__m128i>(from));
        return bit_copy<Doubles>(_mm512_cvtepi32_pd(codes));
    }
};

}  // namespace
}  // namespace gradcoll::quant
