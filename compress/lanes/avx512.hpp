// compress/lanes/avx512.hpp - the lanes vocabulary (lanes/scalar.hpp) on 512-bit registers. Needs
// AVX-512 F, BW, VL, DQ.
#pragma once

#include "compress/lanes/least_word.hpp"
#include "compress/lanes/vector.hpp"
#include "reduce/vector_avx512.hpp"

namespace gradcoll {
namespace {

struct Avx512 : vectors::Avx512 {
    template <class Format>
    using Lanes = VectorLanes<Avx512, Format>;
    static constexpr bool has_vectors = true;
    static constexpr bool streams = true;
    using Words = Vector<std::uint16_t, 32>;
    using Whole = Vector<std::int16_t, 32>;
    using Lanes32 = Vector<std::uint32_t, 16>;
    using Doubles = Vector<double, 8>;

    static Half lower(Words words) {
        return bit_copy<Half>(_mm512_castsi512_si256(bit_copy<__m512i>(words)));
    }
    static Half upper(Words words) {
        return bit_copy<Half>(_mm512_extracti64x4_epi64(bit_copy<__m512i>(words), 1));
    }
    static Words joined(Half low, Half high) {
        return bit_copy<Words>(_mm512_inserti64x4(_mm512_castsi256_si512(bit_copy<__m256i>(low)),
                                                  bit_copy<__m256i>(high), 1));
    }
    static Lanes32 spread_low(Words words) { return spread(shuffled<Twice<0>>(words)); }
    static Lanes32 spread_high(Words words) { return spread(shuffled<Twice<16>>(words)); }

    /// Half of the last place is added, or just less if the last place is even.
    static Lanes32 rounded(Lanes32 bits) {
        const __m512i in = bit_copy<__m512i>(bits);
        const __mmask16 odd = _mm512_test_epi32_mask(in, _mm512_set1_epi32(0x10000));
        const __m512i sum = _mm512_add_epi32(in, _mm512_set1_epi32(0x7fff));
        return bit_copy<Lanes32>(_mm512_mask_add_epi32(sum, odd, sum, _mm512_set1_epi32(1)));
    }
    static Floats finite_or_zero(Floats wide) {
        const __mmask16 not_finite = _mm512_fpclass_ps_mask(bit_copy<__m512>(wide), nan_or_inf);
        return bit_copy<Floats>(
            _mm512_mask_mov_ps(bit_copy<__m512>(wide), not_finite, _mm512_setzero_ps()));
    }
    static Doubles finite_or_zero(Doubles wide) {
        const __mmask8 not_finite = _mm512_fpclass_pd_mask(bit_copy<__m512d>(wide), nan_or_inf);
        return bit_copy<Doubles>(
            _mm512_mask_mov_pd(bit_copy<__m512d>(wide), not_finite, _mm512_setzero_pd()));
    }

    static Floats smaller(Floats a, Floats b) {
        return bit_copy<Floats>(_mm512_min_ps(bit_copy<__m512>(a), bit_copy<__m512>(b)));
    }
    static Floats larger(Floats a, Floats b) {
        return bit_copy<Floats>(_mm512_max_ps(bit_copy<__m512>(a), bit_copy<__m512>(b)));
    }
    static Doubles smaller(Doubles a, Doubles b) {
        return bit_copy<Doubles>(_mm512_min_pd(bit_copy<__m512d>(a), bit_copy<__m512d>(b)));
    }
    static Doubles larger(Doubles a, Doubles b) {
        return bit_copy<Doubles>(_mm512_max_pd(bit_copy<__m512d>(a), bit_copy<__m512d>(b)));
    }
    static float smallest(Floats a) { return _mm512_reduce_min_ps(bit_copy<__m512>(a)); }
    static float largest(Floats a) { return _mm512_reduce_max_ps(bit_copy<__m512>(a)); }
    static double smallest(Doubles a) { return _mm512_reduce_min_pd(bit_copy<__m512d>(a)); }
    static double largest(Doubles a) { return _mm512_reduce_max_pd(bit_copy<__m512d>(a)); }
    static std::int16_t smallest(Whole a) {
        const auto all = bit_copy<__m512i>(a);
        return least_word(
            _mm256_min_epi16(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1)));
    }
    static std::int16_t largest(Whole a) { return static_cast<std::int16_t>(~smallest(~a)); }

    template <class V>
    static bool any(V bits) {
        const auto words = bit_copy<__m512i>(bits);
        return _mm512_test_epi32_mask(words, words) != 0;
    }

  private:
    static constexpr int nan_or_inf = 0x01 | 0x08 | 0x10 | 0x80;  // classes of vfpclass

    template <int first>
    struct Twice {
        static constexpr int from(int i, int) { return first + i / 2; }
    };
    static Lanes32 spread(Words twice) {
        constexpr __mmask32 upper_halves = 0xaaaaaaaa;
        return bit_copy<Lanes32>(_mm512_maskz_mov_epi16(upper_halves, bit_copy<__m512i>(twice)));
    }
};

}  // namespace
}  // namespace gradcoll
