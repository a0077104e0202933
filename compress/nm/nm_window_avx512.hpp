// compress/nm/nm_window_avx512.hpp - a window of 32 elements in one, two or four 512-bit registers.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/nm/nm_lane_constants.hpp"
#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {
namespace {

/// The operations that differ by the width of a lane.
template <class Bits>
struct Avx512Int;

template <>
struct Avx512Int<std::uint16_t> {
    static __m512i magnitude(__m512i v) { return _mm512_and_si512(v, _mm512_set1_epi16(0x7fff)); }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epi16(a, b); }
    static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi16(a, b); }
    static auto equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi16_mask(a, b); }
    static auto greater(__m512i a, __m512i b) { return _mm512_cmpgt_epi16_mask(a, b); }
    static __m512i compress(__mmask32 m, __m512i v) { return _mm512_maskz_compress_epi16(m, v); }
    static __m512i expand(__mmask32 m, __m512i v) { return _mm512_maskz_expand_epi16(m, v); }
    static __m512i select(__mmask32 m, __m512i v) { return _mm512_maskz_mov_epi16(m, v); }
    template <int M, int r>
    static __m512i ahead(__m512i v) {
        if constexpr (M == 4) return _mm512_ror_epi64(v, 16 * r);
        return _mm512_alignr_epi8(v, v, 2 * r);
    }
};

template <>
struct Avx512Int<std::uint32_t> {
    static __m512i magnitude(__m512i v) {
        return _mm512_and_si512(v, _mm512_set1_epi32(0x7fffffff));
    }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }
    static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi32(a, b); }
    static auto equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi32_mask(a, b); }
    static auto greater(__m512i a, __m512i b) { return _mm512_cmpgt_epi32_mask(a, b); }
    static __m512i compress(__mmask16 m, __m512i v) { return _mm512_maskz_compress_epi32(m, v); }
    static __m512i expand(__mmask16 m, __m512i v) { return _mm512_maskz_expand_epi32(m, v); }
    static __m512i select(__mmask16 m, __m512i v) { return _mm512_maskz_mov_epi32(m, v); }
    template <int M, int r>
    static __m512i ahead(__m512i v) {
        if constexpr (M == 4)
            return _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(rotation_of_four<r>));
        const auto* index = AheadIndex<std::uint32_t, 1, M, r, 16>::value.units;
        return _mm512_permutexvar_epi32(_mm512_load_si512(index), v);
    }
};

template <>
struct Avx512Int<std::uint64_t> {
    static __m512i magnitude(__m512i v) {
        return _mm512_and_si512(v, _mm512_set1_epi64(0x7fffffffffffffff));
    }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epi64(a, b); }
    static __m512i add(__m512i a, __m512i b) { return _mm512_add_epi64(a, b); }
    static auto equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi64_mask(a, b); }
    static auto greater(__m512i a, __m512i b) { return _mm512_cmpgt_epi64_mask(a, b); }
    static __m512i compress(__mmask8 m, __m512i v) { return _mm512_maskz_compress_epi64(m, v); }
    static __m512i expand(__mmask8 m, __m512i v) { return _mm512_maskz_expand_epi64(m, v); }
    static __m512i select(__mmask8 m, __m512i v) { return _mm512_maskz_mov_epi64(m, v); }
    template <int M, int r>
    static __m512i ahead(__m512i v) {
        if constexpr (M == 4) return _mm512_permutex_epi64(v, rotation_of_four<r>);
        return _mm512_alignr_epi64(v, v, r);
    }
};

/// Byte i of the result is byte i ^ distance.
template <int distance>
inline __m512i exchange_bytes(__m512i v) {
    if constexpr ((distance & 32) != 0) v = _mm512_shuffle_i32x4(v, v, 0x4e);
    if constexpr ((distance & 16) != 0) v = _mm512_shuffle_i32x4(v, v, 0xb1);
    constexpr int dwords = (distance & 15) / 4;
    if constexpr (dwords != 0) {
        constexpr int order =
            (0 ^ dwords) | (1 ^ dwords) << 2 | (2 ^ dwords) << 4 | (3 ^ dwords) << 6;
        v = _mm512_shuffle_epi32(v, static_cast<_MM_PERM_ENUM>(order));
    }
    if constexpr ((distance & 2) != 0) v = _mm512_rol_epi32(v, 16);
    return v;
}

/// The machine of nm_lanes.hpp; registers hold 32, 16 or 8 lanes each.
template <class Bits>
struct Avx512Window {
    static constexpr int lanes = 64 / static_cast<int>(sizeof(Bits));
    static constexpr int registers = static_cast<int>(window_elems) / lanes;
    static constexpr std::size_t overrun_bytes = 0;  // reads and writes exactly the kept values
    using Int = Avx512Int<Bits>;

    struct Keys {
        __m512i r[registers];
    };
    struct Flags {
        std::uint32_t r[registers];
    };
    using Values = Keys;

    static Values load(const std::byte* from) {
        Values values;
        for (int k = 0; k < registers; ++k) values.r[k] = _mm512_loadu_si512(from + 64 * k);
        return values;
    }
    static Keys magnitude(const Values& values) {
        Keys keys;
        for (int k = 0; k < registers; ++k) keys.r[k] = Int::magnitude(values.r[k]);
        return keys;
    }

    template <int x>
    static Keys exchange(const Keys& keys) {
        Keys out;
        for (int k = 0; k < registers; ++k)
            out.r[k] = exchange_bytes<x % lanes* int{sizeof(Bits)}>(keys.r[k ^ (x / lanes)]);
        return out;
    }
    template <int M, int r>
    static Keys ahead(const Keys& keys) {
        Keys out;
        for (int k = 0; k < registers; ++k) out.r[k] = Int::template ahead<M, r>(keys.r[k]);
        return out;
    }
    template <int M, int below>
    static Keys less_one_below(const Keys& keys) {
        Keys out;
        const Bits* minus_one = MinusOneBelow<Bits, M, below>::value.lanes;
        for (int k = 0; k < registers; ++k)
            out.r[k] = Int::add(keys.r[k], _mm512_load_si512(minus_one + lanes * k));
        return out;
    }
    static Keys max(const Keys& a, const Keys& b) {
        Keys out;
        for (int k = 0; k < registers; ++k) out.r[k] = Int::max(a.r[k], b.r[k]);
        return out;
    }
    static Flags equal(const Keys& a, const Keys& b) {
        Flags out;
        for (int k = 0; k < registers; ++k) out.r[k] = Int::equal(a.r[k], b.r[k]);
        return out;
    }
    static Flags greater(const Keys& a, const Keys& b) {
        Flags out;
        for (int k = 0; k < registers; ++k) out.r[k] = Int::greater(a.r[k], b.r[k]);
        return out;
    }
    static std::uint32_t ballot(const Flags& flags) {
        std::uint32_t word = 0;
        for (int k = 0; k < registers; ++k) word |= flags.r[k] << (lanes * k % 32);
        return word;
    }

    /// The values that the word marks, +0 in place of the others.
    static Values keep(const Values& values, std::uint32_t word) {
        Values out;
        for (int k = 0; k < registers; ++k) out.r[k] = Int::select(mask_of(word, k), values.r[k]);
        return out;
    }

    /// Packs the kept values of a window: in registers, then stores of exactly their size. (The
    /// compress instruction with a memory operand is ten times slower on some CPUs.)
    template <class S>
    static void pack(const Values& values, std::uint32_t word, std::byte* out) {
        if constexpr (S::M <= lanes) {
            constexpr std::size_t bytes = 64 * S::N / S::M;
            for (int k = 0; k < registers; ++k)
                store<bytes>(out + bytes * k, Int::compress(mask_of(word, k), values.r[k]));
        } else {  // fp64 1:16: one value of two registers
            for (int k = 0; k < registers; k += 2) {
                const __m512i either =
                    _mm512_or_si512(Int::select(mask_of(word, k), values.r[k]),
                                    Int::select(mask_of(word, k + 1), values.r[k + 1]));
                const auto lane = static_cast<__mmask8>(mask_of(word, k) | mask_of(word, k + 1));
                store<8>(out + 4 * k, Int::compress(lane, either));
            }
        }
    }

    /// The window of `in`'s values at the places that the word marks, +0 elsewhere.
    template <class S>
    static Values unpack(const std::byte* in, std::uint32_t word) {
        Values values;
        if constexpr (S::M <= lanes) {
            constexpr std::size_t bytes = 64 * S::N / S::M;
            for (int k = 0; k < registers; ++k)
                values.r[k] = Int::expand(mask_of(word, k), load_packed<bytes>(in + bytes * k));
        } else {
            for (int k = 0; k < registers; ++k) {
                std::int64_t value;
                std::memcpy(&value, in + k / 2 * 8, sizeof value);
                values.r[k] = Int::select(mask_of(word, k), _mm512_set1_epi64(value));
            }
        }
        return values;
    }

  private:
    using Mask = decltype(Int::equal(__m512i{}, __m512i{}));
    static Mask mask_of(std::uint32_t word, int k) {
        return static_cast<Mask>(word >> (lanes * k % 32));
    }

    template <std::size_t bytes>
    static void store(std::byte* out, __m512i packed) {
        if constexpr (bytes == 32) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(packed));
        } else if constexpr (bytes == 16) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(packed));
        } else if constexpr (bytes == 8) {
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(packed));
        } else {
            static_assert(bytes == 4);
            const int low = _mm_cvtsi128_si32(_mm512_castsi512_si128(packed));
            std::memcpy(out, &low, sizeof low);
        }
    }
    template <std::size_t bytes>
    static __m512i load_packed(const std::byte* in) {
        if constexpr (bytes == 32) {
            return _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)));
        } else if constexpr (bytes == 16) {
            return _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
        } else if constexpr (bytes == 8) {
            return _mm512_castsi128_si512(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(in)));
        } else {
            static_assert(bytes == 4);
            int low;
            std::memcpy(&low, in, sizeof low);
            return _mm512_castsi128_si512(_mm_cvtsi32_si128(low));
        }
    }
};

}  // namespace
}  // namespace gradcoll::nm
