// compress/lanes/avx512.hpp - the lanes vocabulary (lanes/scalar.hpp) on 512-bit registers. Needs
// AVX-512 F, BW, VL, DQ.
#pragma once

#include <immintrin.h>

#include "compress/lanes/scalar.hpp"

namespace gradcoll {
namespace {

struct Avx512Register {
    using Reg = __m512i;
    static Reg load(const void* from) { return _mm512_loadu_si512(from); }
    static void store(void* to, Reg reg) { _mm512_storeu_si512(to, reg); }
    static constexpr bool streams = true;
    static void stream(void* to, Reg reg) { _mm512_stream_si512(static_cast<__m512i*>(to), reg); }
    static void fence() { _mm_sfence(); }
};

inline constexpr int nan_or_infinity = 0x01 | 0x08 | 0x10 | 0x80;  // classes of vfpclass

struct Avx512Single {
    using Wide = __m512;
    static Wide load_wide(const void* from) { return _mm512_loadu_ps(from); }
    static void store_wide(void* to, Wide wide) { _mm512_storeu_ps(to, wide); }
    static Wide add(Wide a, Wide b) { return _mm512_add_ps(a, b); }
    static Wide subtract(Wide a, Wide b) { return _mm512_sub_ps(a, b); }
    static Wide finite_or_zero(Wide wide) {
        const __mmask16 not_finite = _mm512_fpclass_ps_mask(wide, nan_or_infinity);
        return _mm512_mask_mov_ps(wide, not_finite, _mm512_setzero_ps());
    }
};

struct Avx512Double {
    using Wide = __m512d;
    static Wide load_wide(const void* from) { return _mm512_loadu_pd(from); }
    static void store_wide(void* to, Wide wide) { _mm512_storeu_pd(to, wide); }
    static Wide add(Wide a, Wide b) { return _mm512_add_pd(a, b); }
    static Wide subtract(Wide a, Wide b) { return _mm512_sub_pd(a, b); }
    static Wide finite_or_zero(Wide wide) {
        const __mmask8 not_finite = _mm512_fpclass_pd_mask(wide, nan_or_infinity);
        return _mm512_mask_mov_pd(wide, not_finite, _mm512_setzero_pd());
    }
};

/// Thirty-two values of a 16-bit format, calculated as two vectors of fp32.
template <class Convert>
struct Avx512Pair : Avx512Register, Convert {
    struct Wide {
        __m512 low, high;
    };
    static Wide widen(Reg reg) { return {Convert::widen_low(reg), Convert::widen_high(reg)}; }
    static Reg narrow(Wide wide) { return Convert::narrow_both(wide.low, wide.high); }
    static Wide load_wide(const void* from) {
        return {Avx512Single::load_wide(from),
                Avx512Single::load_wide(static_cast<const float*>(from) + 16)};
    }
    static void store_wide(void* to, Wide wide) {
        Avx512Single::store_wide(to, wide.low);
        Avx512Single::store_wide(static_cast<float*>(to) + 16, wide.high);
    }
    static Wide add(Wide a, Wide b) {
        return {Avx512Single::add(a.low, b.low), Avx512Single::add(a.high, b.high)};
    }
    static Wide subtract(Wide a, Wide b) {
        return {Avx512Single::subtract(a.low, b.low), Avx512Single::subtract(a.high, b.high)};
    }
    static Wide finite_or_zero(Wide wide) {
        return {Avx512Single::finite_or_zero(wide.low), Avx512Single::finite_or_zero(wide.high)};
    }
};

struct Avx512ConvertFp16 {
    static __m512 widen_low(__m512i reg) { return _mm512_cvtph_ps(_mm512_castsi512_si256(reg)); }
    static __m512 widen_high(__m512i reg) {
        return _mm512_cvtph_ps(_mm512_extracti64x4_epi64(reg, 1));
    }
    static __m512i narrow_both(__m512 low, __m512 high) {
        return _mm512_inserti64x4(_mm512_castsi256_si512(narrow(low)), narrow(high), 1);
    }

  private:
    static __m256i narrow(__m512 wide) {
        return _mm512_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
};

/// Words of 16 bits: from which of two registers, and where, a permutation takes each.
struct Avx512WordIndex {
    alignas(64) std::uint16_t words[32];
};
/// Word i of sixteen becomes the upper half of lane i; the lower half is masked out.
constexpr Avx512WordIndex spread_words(std::uint16_t first) {
    Avx512WordIndex index{};
    for (std::uint16_t i = 0; i < 32; ++i)
        index.words[i] = static_cast<std::uint16_t>(first + i / 2);
    return index;
}
/// The upper halves of the lanes of two registers, one register behind the other.
constexpr Avx512WordIndex gather_upper_words() {
    Avx512WordIndex index{};
    for (std::uint16_t i = 0; i < 32; ++i) index.words[i] = static_cast<std::uint16_t>(2 * i + 1);
    return index;
}

/// By integer arithmetic: the instruction of AVX512_BF16 would flush subnormals to zero.
struct Avx512ConvertBf16 {
    static __m512 widen_low(__m512i reg) { return spread(low_words, reg); }
    static __m512 widen_high(__m512i reg) { return spread(high_words, reg); }
    static __m512i narrow_both(__m512 low, __m512 high) {
        return _mm512_permutex2var_epi16(rounded(low), indices(upper_words), rounded(high));
    }
    /// Even and odd elements apart, each as the upper half of an fp32: nothing moves between lanes.
    /// A sum that is NaN is quiet already, and its lower half is 0, since it is one of the addends
    /// or the CPU's own: nothing is carried.
    static __m512i sum(__m512i a, __m512i b) {
        const __m512i odd_lanes = _mm512_set1_epi32(static_cast<int>(0xffff0000));
        const __m512i even = rounded_sum(_mm512_slli_epi32(a, 16), _mm512_slli_epi32(b, 16));
        const __m512i odd =
            rounded_sum(_mm512_and_si512(a, odd_lanes), _mm512_and_si512(b, odd_lanes));
        return _mm512_mask_blend_epi16(upper_halves, _mm512_srli_epi32(even, 16), odd);
    }

  private:
    static constexpr __mmask32 upper_halves = 0xaaaaaaaa;
    static constexpr Avx512WordIndex low_words = spread_words(0), high_words = spread_words(16),
                                     upper_words = gather_upper_words();

    static __m512i indices(const Avx512WordIndex& index) { return _mm512_load_si512(index.words); }
    static __m512 spread(const Avx512WordIndex& index, __m512i reg) {
        return _mm512_castsi512_ps(
            _mm512_maskz_permutexvar_epi16(upper_halves, indices(index), reg));
    }
    /// Rounded into the upper halves, if that does not carry a NaN away: half of the last place is
    /// added, or just less if the last place is even.
    static __m512i rounded_number(__m512i bits) {
        const __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
        const __m512i sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
        return _mm512_mask_add_epi32(sum, odd, sum, _mm512_set1_epi32(1));
    }
    /// The same for all: NaN stays NaN and becomes quiet.
    static __m512i rounded(__m512 wide) {
        const __m512i bits = _mm512_castps_si512(wide);
        const __mmask16 is_nan = _mm512_cmp_ps_mask(wide, wide, _CMP_UNORD_Q);
        return _mm512_mask_or_epi32(rounded_number(bits), is_nan, bits,
                                    _mm512_set1_epi32(0x400000));
    }
    static __m512i rounded_sum(__m512i a, __m512i b) {
        return rounded_number(
            _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b))));
    }
};

template <class T>
struct Avx512Lanes;
template <>
struct Avx512Lanes<Fp16> : Avx512Pair<Avx512ConvertFp16> {
    using Format = Fp16;
    static constexpr std::size_t elems = 32;
};
template <>
struct Avx512Lanes<Bf16> : Avx512Pair<Avx512ConvertBf16> {
    using Format = Bf16;
    static constexpr std::size_t elems = 32;
};
template <>
struct Avx512Lanes<Fp32> : Avx512Register, Avx512Single {
    using Format = Fp32;
    static constexpr std::size_t elems = 16;
    static Wide widen(Reg reg) { return _mm512_castsi512_ps(reg); }
    static Reg narrow(Wide wide) { return _mm512_castps_si512(wide); }
};
template <>
struct Avx512Lanes<Fp64> : Avx512Register, Avx512Double {
    using Format = Fp64;
    static constexpr std::size_t elems = 8;
    static Wide widen(Reg reg) { return _mm512_castsi512_pd(reg); }
    static Reg narrow(Wide wide) { return _mm512_castpd_si512(wide); }
};

}  // namespace
}  // namespace gradcoll
