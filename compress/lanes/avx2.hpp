// compress/lanes/avx2.hpp - the lanes vocabulary (lanes/scalar.hpp) on 256-bit registers. Needs
// AVX2 and F16C.
#pragma once

#include <immintrin.h>

#include "compress/lanes/scalar.hpp"

namespace gradcoll {
namespace {

struct Avx2Register {
    using Reg = __m256i;
    static Reg load(const void* from) {
        return _mm256_loadu_si256(static_cast<const __m256i*>(from));
    }
    static void store(void* to, Reg reg) { _mm256_storeu_si256(static_cast<__m256i*>(to), reg); }
    static constexpr bool streams = false;  // measured: slower by way of the stack
};

struct Avx2Single {
    using Wide = __m256;
    static Wide load_wide(const void* from) {
        return _mm256_loadu_ps(static_cast<const float*>(from));
    }
    static void store_wide(void* to, Wide wide) { _mm256_storeu_ps(static_cast<float*>(to), wide); }
    static Wide add(Wide a, Wide b) { return _mm256_add_ps(a, b); }
    static Wide subtract(Wide a, Wide b) { return _mm256_sub_ps(a, b); }
    static Wide finite_or_zero(Wide wide) {  // x - x is 0 for finite x only
        const Wide self = _mm256_sub_ps(wide, wide);
        return _mm256_and_ps(wide, _mm256_cmp_ps(self, self, _CMP_ORD_Q));
    }
};

struct Avx2Double {
    using Wide = __m256d;
    static Wide load_wide(const void* from) {
        return _mm256_loadu_pd(static_cast<const double*>(from));
    }
    static void store_wide(void* to, Wide wide) {
        _mm256_storeu_pd(static_cast<double*>(to), wide);
    }
    static Wide add(Wide a, Wide b) { return _mm256_add_pd(a, b); }
    static Wide subtract(Wide a, Wide b) { return _mm256_sub_pd(a, b); }
    static Wide finite_or_zero(Wide wide) {
        const Wide self = _mm256_sub_pd(wide, wide);
        return _mm256_and_pd(wide, _mm256_cmp_pd(self, self, _CMP_ORD_Q));
    }
};

/// Sixteen values of a 16-bit format, calculated as two vectors of fp32.
template <class Convert>
struct Avx2Pair : Avx2Register, Convert {
    struct Wide {
        __m256 low, high;
    };
    static Wide widen(Reg reg) { return {Convert::widen_low(reg), Convert::widen_high(reg)}; }
    static Reg narrow(Wide wide) { return Convert::narrow_both(wide.low, wide.high); }
    static Wide load_wide(const void* from) {
        return {Avx2Single::load_wide(from),
                Avx2Single::load_wide(static_cast<const float*>(from) + 8)};
    }
    static void store_wide(void* to, Wide wide) {
        Avx2Single::store_wide(to, wide.low);
        Avx2Single::store_wide(static_cast<float*>(to) + 8, wide.high);
    }
    static Wide add(Wide a, Wide b) {
        return {Avx2Single::add(a.low, b.low), Avx2Single::add(a.high, b.high)};
    }
    static Wide subtract(Wide a, Wide b) {
        return {Avx2Single::subtract(a.low, b.low), Avx2Single::subtract(a.high, b.high)};
    }
    static Wide finite_or_zero(Wide wide) {
        return {Avx2Single::finite_or_zero(wide.low), Avx2Single::finite_or_zero(wide.high)};
    }
};

struct Avx2ConvertFp16 {
    static __m256 widen_low(__m256i reg) { return _mm256_cvtph_ps(_mm256_castsi256_si128(reg)); }
    static __m256 widen_high(__m256i reg) {
        return _mm256_cvtph_ps(_mm256_extracti128_si256(reg, 1));
    }
    static __m256i narrow_both(__m256 low, __m256 high) {
        return _mm256_set_m128i(narrow(high), narrow(low));
    }

  private:
    static __m128i narrow(__m256 wide) {
        return _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
};

/// A bf16 is the upper half of an fp32.
struct Avx2ConvertBf16 {
    static __m256 widen_low(__m256i reg) {
        const __m256i words = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(reg));
        return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    }
    static __m256 widen_high(__m256i reg) {
        const __m256i words = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(reg, 1));
        return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    }
    static __m256i narrow_both(__m256 low, __m256 high) {
        const __m256i mixed = _mm256_packus_epi32(_mm256_srli_epi32(rounded(low), 16),
                                                  _mm256_srli_epi32(rounded(high), 16));
        return _mm256_permute4x64_epi64(mixed, 0xd8);
    }
    /// Even and odd elements apart, each as the upper half of an fp32: nothing moves between lanes.
    /// A sum that is NaN is quiet already, and its lower half is 0, since it is one of the addends
    /// or the CPU's own: nothing is carried.
    static __m256i sum(__m256i a, __m256i b) {
        const __m256i odd_lanes = _mm256_set1_epi32(static_cast<int>(0xffff0000));
        const __m256i even = rounded_sum(_mm256_slli_epi32(a, 16), _mm256_slli_epi32(b, 16));
        const __m256i odd =
            rounded_sum(_mm256_and_si256(a, odd_lanes), _mm256_and_si256(b, odd_lanes));
        return _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
    }

  private:
    /// What rounding to the upper half adds: half of its last place, or just less if it is even.
    static __m256i carry_of(__m256i bits) {
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        return _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
    }
    /// The result in the upper halves; NaN stays NaN and becomes quiet.
    static __m256i rounded(__m256 wide) {
        const __m256i bits = _mm256_castps_si256(wide);
        const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(wide, wide, _CMP_UNORD_Q));
        const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
        return _mm256_blendv_epi8(_mm256_add_epi32(bits, carry_of(bits)), quiet, is_nan);
    }
    static __m256i rounded_sum(__m256i a, __m256i b) {
        const __m256i bits =
            _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
        return _mm256_add_epi32(bits, carry_of(bits));
    }
};

template <class T>
struct Avx2Lanes;
template <>
struct Avx2Lanes<Fp16> : Avx2Pair<Avx2ConvertFp16> {
    using Format = Fp16;
    static constexpr std::size_t elems = 16;
};
template <>
struct Avx2Lanes<Bf16> : Avx2Pair<Avx2ConvertBf16> {
    using Format = Bf16;
    static constexpr std::size_t elems = 16;
};
template <>
struct Avx2Lanes<Fp32> : Avx2Register, Avx2Single {
    using Format = Fp32;
    static constexpr std::size_t elems = 8;
    static Wide widen(Reg reg) { return _mm256_castsi256_ps(reg); }
    static Reg narrow(Wide wide) { return _mm256_castps_si256(wide); }
};
template <>
struct Avx2Lanes<Fp64> : Avx2Register, Avx2Double {
    using Format = Fp64;
    static constexpr std::size_t elems = 4;
    static Wide widen(Reg reg) { return _mm256_castsi256_pd(reg); }
    static Reg narrow(Wide wide) { return _mm256_castpd_si256(wide); }
};

}  // namespace
}  // namespace gradcoll
