// compress/quant/quant_avx512.hpp - what quant_vector_block.hpp asks of 512-bit registers. Needs
// AVX-512 F, BW, VL, DQ, VBMI2.
#pragma once

#include "compress/lanes/avx512.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll::quant {
namespace {

template <>
struct Instructions<Avx512> : Avx512 {
    /// Packs two by two: each 128 bits of a register for themselves, so what comes out has to be
    /// put in order.
    template <class Code>
    static void store_codes(std::byte* to, const Floats (&steps)[4]) {
        const __m512i first = packed_words(steps[0], steps[1]);
        const __m512i last = packed_words(steps[2], steps[3]);
        if constexpr (sizeof(Code) == 1) {
            const __m512i order =
                _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            store_vector(to, _mm512_permutexvar_epi32(order, _mm512_packs_epi16(first, last)));
        } else {
            const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
            store_vector(to, _mm512_permutexvar_epi64(order, first));
            store_vector(to + 64, _mm512_permutexvar_epi64(order, last));
        }
    }
    template <class Code>
    static void store_codes(std::byte* to, const Doubles (&steps)[4]) {
        for (const Doubles& part : steps) {
            const __m256i codes = _mm512_cvtpd_epi32(bit_copy<__m512d>(part));
            if constexpr (sizeof(Code) == 1)
                store_vector(to, _mm_cvtsi128_si64(_mm256_cvtepi32_epi8(codes)));
            else
                store_vector(to, _mm256_cvtepi32_epi16(codes));
            to += 8 * sizeof(Code);
        }
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
    static __mmask16 at_most(Lanes32 a, Lanes32 b) {
        return _mm512_cmple_epu32_mask(bit_copy<__m512i>(a), bit_copy<__m512i>(b));
    }
    static __mmask8 at_most(Vector<std::uint64_t, 8> a, Vector<std::uint64_t, 8> b) {
        return _mm512_cmple_epu64_mask(bit_copy<__m512i>(a), bit_copy<__m512i>(b));
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
    template <class Reg>
    static Reg packed(Reg elements, std::uint64_t marks) {
        const auto all = bit_copy<__m512i>(elements);
        if constexpr (lanes_of<Reg> == 32)
            return bit_copy<Reg>(_mm512_maskz_compress_epi16(static_cast<__mmask32>(marks), all));
        else if constexpr (lanes_of<Reg> == 16)
            return bit_copy<Reg>(_mm512_maskz_compress_epi32(static_cast<__mmask16>(marks), all));
        else
            return bit_copy<Reg>(_mm512_maskz_compress_epi64(static_cast<__mmask8>(marks), all));
    }

  private:
    static __m512i packed_words(Floats a, Floats b) {
        return _mm512_packs_epi32(_mm512_cvtps_epi32(bit_copy<__m512>(a)),
                                  _mm512_cvtps_epi32(bit_copy<__m512>(b)));
    }
};

}  // namespace
}  // namespace gradcoll::quant
