// compress/quant/quant_avx2.hpp - what quant_vector_block.hpp asks of 256-bit registers. Needs
// AVX2.
#pragma once

#include "compress/lanes/avx2.hpp"
#include "compress/quant/quant_masks.hpp"
#include "compress/quant/quant_vector_block.hpp"

namespace gradcoll::quant {
namespace {

template <>
struct Instructions<Avx2> : Avx2, LaneMasks {
    /// Packs two by two: each half of a register for itself, so what comes out has to be put in
    /// order.
    template <class Code>
    static void store_codes(std::byte* to, const Floats (&steps)[4]) {
        const __m256i first = packed_words(steps[0], steps[1]);
        const __m256i last = packed_words(steps[2], steps[3]);
        if constexpr (sizeof(Code) == 1) {
            const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            store_vector(to, _mm256_permutevar8x32_epi32(_mm256_packs_epi16(first, last), order));
        } else {
            store_vector(to, _mm256_permute4x64_epi64(first, 0xd8));
            store_vector(to + 32, _mm256_permute4x64_epi64(last, 0xd8));
        }
    }
    template <class Code>
    static void store_codes(std::byte* to, const Doubles (&steps)[4]) {
        for (const Doubles& part : steps) {
            const __m128i codes = _mm256_cvtpd_epi32(bit_copy<__m256d>(part));
            const __m128i words = _mm_packs_epi32(codes, codes);
            if constexpr (sizeof(Code) == 1)
                store_vector(to, _mm_cvtsi128_si32(_mm_packs_epi16(words, words)));
            else
                store_vector(to, _mm_cvtsi128_si64(words));
            to += 4 * sizeof(Code);
        }
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

    template <class Mask>
    static std::uint32_t bits(Mask mask) {
        if constexpr (lanes_of<Mask> == 8)
            return static_cast<std::uint32_t>(_mm256_movemask_ps(bit_copy<__m256>(mask)));
        else
            return static_cast<std::uint32_t>(_mm256_movemask_pd(bit_copy<__m256d>(mask)));
    }
    template <class Code>
    static std::uint64_t equal_codes(const std::byte* codes, Code value) {
        constexpr std::size_t half = 32 * sizeof(Code);
        return equal_half(codes, value) | std::uint64_t{equal_half(codes + half, value)} << 32;
    }

  private:
    static __m256i packed_words(Floats a, Floats b) {
        return _mm256_packs_epi32(_mm256_cvtps_epi32(bit_copy<__m256>(a)),
                                  _mm256_cvtps_epi32(bit_copy<__m256>(b)));
    }
    static std::uint32_t equal_half(const std::byte* codes, std::int8_t value) {
        return bits_of_bytes(
            _mm256_cmpeq_epi8(load_vector<__m256i>(codes), _mm256_set1_epi8(value)));
    }
    static std::uint32_t equal_half(const std::byte* codes, std::int16_t value) {
        const __m256i all = _mm256_set1_epi16(value);
        const __m256i low = _mm256_cmpeq_epi16(load_vector<__m256i>(codes), all);
        const __m256i high = _mm256_cmpeq_epi16(load_vector<__m256i>(codes + 32), all);
        return bits_of_bytes(_mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8));
    }
    static std::uint32_t bits_of_bytes(__m256i bytes) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
    }
};

}  // namespace
}  // namespace gradcoll::quant
