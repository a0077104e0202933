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

    static __mmask16 at_most(Floats a, Floats b) {
        return _mm512_cmp_ps_mask(bit_copy<__m512>(a), bit_copy<__m512>(b), _CMP_LE_OQ);
    }
    static __mmask8 at_most(Doubles a, Doubles b) {
        return _mm512_cmp_pd_mask(bit_copy<__m512d>(a), bit_copy<__m512d>(b), _CMP_LE_OQ);
    }
    template <class V>
    static auto at_least(V a, V b) {
        return at_most(b, a);
    }
    static __mmask16 same(Floats a, Floats b) {
        return _mm512_cmpeq_epi32_mask(bit_copy<__m512i>(a), bit_copy<__m512i>(b));
    }
    static __mmask8 same(Doubles a, Doubles b) {
        return _mm512_cmpeq_epi64_mask(bit_copy<__m512i>(a), bit_copy<__m512i>(b));
    }
    template <class Mask>
    static Mask both(Mask a, Mask b) {
        return static_cast<Mask>(a & b);
    }
    template <class Mask>
    static Mask either(Mask a, Mask b) {
        return static_cast<Mask>(a | b);
    }
    template <class Mask>
    static Mask not_of(Mask mask) {
        return static_cast<Mask>(~mask);
    }
    static std::uint32_t bits(std::uint32_t mask) { return mask; }
    static Floats chosen(__mmask16 mask, Floats a, Floats b) {
        return bit_copy<Floats>(
            _mm512_mask_blend_ps(mask, bit_copy<__m512>(b), bit_copy<__m512>(a)));
    }
    static Doubles chosen(__mmask8 mask, Doubles a, Doubles b) {
        return bit_copy<Doubles>(
            _mm512_mask_blend_pd(mask, bit_copy<__m512d>(b), bit_copy<__m512d>(a)));
    }
    template <class Code>
    static std::uint64_t equal_codes(const std::byte* codes, Code value) {
        if constexpr (sizeof(Code) == 1)
            return _mm512_cmpeq_epi8_mask(load_vector<__m512i>(codes), _mm512_set1_epi8(value));
        const __m512i all = _mm512_set1_epi16(value);
        return _mm512_cmpeq_epi16_mask(load_vector<__m512i>(codes), all) |
               std::uint64_t{_mm512_cmpeq_epi16_mask(load_vector<__m512i>(codes + 64), all)} << 32;
    }
};

}  // namespace
}  // namespace gradcoll::quant
