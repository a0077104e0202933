// compress/quant/quant_avx2.hpp - what quant_vector_block.hpp asks of 256-bit registers. Needs
// AVX2.
#pragma once

#include "compress/lanes/avx2.hpp"

namespace gradcoll::quant {
namespace {

struct QuantAvx2 : Avx2 {
    using Doubles = Vector<double, 4>;

    static Floats smaller(Floats a, Floats b) {
        return bit_copy<Floats>(_mm256_min_ps(bit_copy<__m256>(a), bit_copy<__m256>(b)));
    }
    static Floats larger(Floats a, Floats b) {
        return bit_copy<Floats>(_mm256_max_ps(bit_copy<__m256>(a), bit_copy<__m256>(b)));
    }
    static Doubles smaller(Doubles a, Doubles b) {
        return bit_copy<Doubles>(_mm256_min_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b)));
    }
    static Doubles larger(Doubles a, Doubles b) {
        return bit_copy<Doubles>(_mm256_max_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b)));
    }
    template <class V>
    static auto smallest(V a) {
        return folded(a, [](V x, V y) { return smaller(x, y); });
    }
    template <class V>
    static auto largest(V a) {
        return folded(a, [](V x, V y) { return larger(x, y); });
    }

    template <class V>
    static bool any(V bits) {
        const auto words = bit_copy<__m256i>(bits);
        return _mm256_testz_si256(words, words) == 0;
    }

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

  private:
    /// Half of the lanes ahead.
    template <int ahead>
    struct Ahead {
        static constexpr int from(int i, int lanes) { return (i + ahead) % lanes; }
    };
    template <class V, class Combine>
    static auto folded(V a, Combine combine) {
        if constexpr (lanes_of<V> == 8) a = combine(a, shuffled<Ahead<4>>(a));
        a = combine(a, shuffled<Ahead<2>>(a));
        return combine(a, shuffled<Ahead<1>>(a))[0];
    }
};

}  // namespace
}  // namespace gradcoll::quant
