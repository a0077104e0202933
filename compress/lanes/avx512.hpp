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
};

inline constexpr int nan_or_infinity = 0x01 | 0x08 | 0x10 | 0x80;  // classes of vfpclass

struct Avx512Single {
    using Wide = __m512;
    static Wide load_wide(const void* from) { return _mm512_loadu_ps(from); }
    static void store_wide(void* to, Wide wide) { _mm512_storeu_ps(to, wide); }
    static Wide add(Wide a, Wide b) { return _mm512_add_ps(a, b); }
    static Wide subtract(Wide a, Wide b) { return _mm512_sub_ps(a, b); }
    static Wide finite_or_zero(Wide wide) {
        const __mmask16 finite = _knot_mask16(_mm512_fpclass_ps_mask(wide, nan_or_infinity));
        return _mm512_maskz_mov_ps(finite, wide);
    }
};

struct Avx512Double {
    using Wide = __m512d;
    static Wide load_wide(const void* from) { return _mm512_loadu_pd(from); }
    static void store_wide(void* to, Wide wide) { _mm512_storeu_pd(to, wide); }
    static Wide add(Wide a, Wide b) { return _mm512_add_pd(a, b); }
    static Wide subtract(Wide a, Wide b) { return _mm512_sub_pd(a, b); }
    static Wide finite_or_zero(Wide wide) {
        const __mmask8 finite = _knot_mask8(_mm512_fpclass_pd_mask(wide, nan_or_infinity));
        return _mm512_maskz_mov_pd(finite, wide);
    }
};

/// Thirty-two values of a 16-bit format, calculated as two vectors of fp32.
template <class Convert>
struct Avx512Pair : Avx512Register {
    struct Wide {
        __m512 low, high;
    };
    static Wide widen(Reg reg) {
        return {Convert::widen(_mm512_castsi512_si256(reg)),
                Convert::widen(_mm512_extracti64x4_epi64(reg, 1))};
    }
    static Reg narrow(Wide wide) {
        return _mm512_inserti64x4(_mm512_castsi256_si512(Convert::narrow(wide.low)),
                                  Convert::narrow(wide.high), 1);
    }
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
    static __m512 widen(__m256i bits) { return _mm512_cvtph_ps(bits); }
    static __m256i narrow(__m512 wide) {
        return _mm512_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
};

/// By integer arithmetic: the instruction of AVX512_BF16 would flush subnormals to zero.
struct Avx512ConvertBf16 {
    static __m512 widen(__m256i bits) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
    }
    static __m256i narrow(__m512 wide) {
        const __m512i bits = _mm512_castps_si512(wide);
        const __m512i upper = _mm512_srli_epi32(bits, 16);
        const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
        const __m512i carry = _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff));
        const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, carry), 16);
        const __mmask16 is_nan = _mm512_cmp_ps_mask(wide, wide, _CMP_UNORD_Q);
        const __m512i quiet = _mm512_set1_epi32(0x40);
        return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, is_nan, upper, quiet));
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
