// compress/nm/nm_packer_avx512.hpp - packing with AVX-512 (nm_window.hpp): by instructions made for
// it. Needs VBMI2, too.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "compress/lanes/avx512.hpp"
#include "compress/nm/nm_window.hpp"

namespace gradcoll::nm {
namespace {

/// Avx512Int has the operations that differ by the width of a lane.
template <class Bits>
struct Avx512Int;

template <>
struct Avx512Int<std::uint16_t> {
    using Mask = __mmask32;
    static Mask equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi16_mask(a, b); }
    static Mask greater(__m512i a, __m512i b) { return _mm512_cmpgt_epi16_mask(a, b); }
    static __m512i compress(Mask m, __m512i v) { return _mm512_maskz_compress_epi16(m, v); }
    static __m512i expand(Mask m, __m512i v) { return _mm512_maskz_expand_epi16(m, v); }
    static __m512i select(Mask m, __m512i v) { return _mm512_maskz_mov_epi16(m, v); }
};
template <>
struct Avx512Int<std::uint32_t> {
    using Mask = __mmask16;
    static Mask equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi32_mask(a, b); }
    static Mask greater(__m512i a, __m512i b) { return _mm512_cmpgt_epi32_mask(a, b); }
    static __m512i compress(Mask m, __m512i v) { return _mm512_maskz_compress_epi32(m, v); }
    static __m512i expand(Mask m, __m512i v) { return _mm512_maskz_expand_epi32(m, v); }
    static __m512i select(Mask m, __m512i v) { return _mm512_maskz_mov_epi32(m, v); }
};
template <>
struct Avx512Int<std::uint64_t> {
    using Mask = __mmask8;
    static Mask equal(__m512i a, __m512i b) { return _mm512_cmpeq_epi64_mask(a, b); }
    static Mask greater(__m512i a, __m512i b) { return _mm512_cmpgt_epi64_mask(a, b); }
    static __m512i compress(Mask m, __m512i v) { return _mm512_maskz_compress_epi64(m, v); }
    static __m512i expand(Mask m, __m512i v) { return _mm512_maskz_expand_epi64(m, v); }
    static __m512i select(Mask m, __m512i v) { return _mm512_maskz_mov_epi64(m, v); }
};

template <class BitsOfLane>
struct Packer<Avx512, BitsOfLane> {
    using Bits = BitsOfLane;
    using Int = Avx512Int<Bits>;
    static constexpr int lanes = 64 / static_cast<int>(sizeof(Bits));
    static constexpr int registers = static_cast<int>(window_elems) / lanes;
    static constexpr std::size_t overrun_bytes = 0;  // reads and writes exactly the kept values
    using Reg = Vector<Bits, lanes>;
    using Key = Vector<std::make_signed_t<Bits>, lanes>;
    using Flag = std::uint32_t;  // a bit a lane

    static Key permuted(Key keys, Reg order) {
        return bit_copy<Key>(_mm512_permutexvar_epi32(raw(order), raw(keys)));
    }
    static Flag equal(Key a, Key b) { return Int::equal(raw(a), raw(b)); }
    static Flag greater(Key a, Key b) { return Int::greater(raw(a), raw(b)); }
    static bool any(Flag flag) { return flag != 0; }
    static std::uint32_t ballot(const Flag* flags) {
        std::uint32_t word = 0;
        for (int k = 0; k < registers; ++k) word |= flags[k] << (lanes * k % 32);
        return word;
    }
    static Reg select(std::uint32_t mask, Reg values) {
        return bit_copy<Reg>(Int::select(static_cast<Mask>(mask), raw(values)));
    }

    /// Packs in registers, and then stores exactly their size. (The compress instruction with a
    /// memory operand is ten times slower on some CPUs.)
    template <class S>
    static void pack(const Reg* values, std::uint32_t word, std::byte* out) {
        if constexpr (S::M <= lanes) {
            constexpr std::size_t bytes = 64 * S::N / S::M;
            for (int k = 0; k < registers; ++k)
                store_front<bytes>(out + bytes * k,
                                   Int::compress(mask_at(word, k), raw(values[k])));
        } else {  // fp64 1:16: one value of two registers
            for (int k = 0; k < registers; k += 2) {
                const Reg either = select(mask_at(word, k), values[k]) |
                                   select(mask_at(word, k + 1), values[k + 1]);
                const auto lane = static_cast<Mask>(mask_at(word, k) | mask_at(word, k + 1));
                store_front<8>(out + 4 * k, Int::compress(lane, raw(either)));
            }
        }
    }
    template <class S>
    static void unpack(const std::byte* in, std::uint32_t word, Reg* values) {
        for (int k = 0; k < registers; ++k) {
            if constexpr (S::M <= lanes) {
                constexpr std::size_t bytes = 64 * S::N / S::M;
                values[k] =
                    bit_copy<Reg>(Int::expand(mask_at(word, k), load_front<bytes>(in + bytes * k)));
            } else {
                Bits value;
                std::memcpy(&value, in + k / 2 * sizeof value, sizeof value);
                values[k] = select(mask_at(word, k), value - Reg{});  // the value in every lane
            }
        }
    }

  private:
    using Mask = typename Int::Mask;
    static Mask mask_at(std::uint32_t word, int k) {
        return static_cast<Mask>(mask_of<lanes>(word, k));
    }
    template <class V>
    static __m512i raw(V vector) {
        return bit_copy<__m512i>(vector);
    }

    template <std::size_t bytes>
    static void store_front(std::byte* out, __m512i packed) {
        std::memcpy(out, &packed, bytes);
    }
    /// Loads the front of a register. What lies behind those bytes in the register is of no
    /// meaning.
    template <std::size_t bytes>
    static __m512i load_front(const std::byte* in) {
        if constexpr (bytes == 32)
            return _mm512_castsi256_si512(load_vector<__m256i>(in));
        else if constexpr (bytes == 16)
            return _mm512_castsi128_si512(load_vector<__m128i>(in));
        else if constexpr (bytes == 8)
            return _mm512_castsi128_si512(_mm_cvtsi64_si128(load_vector<std::int64_t>(in)));
        else
            return _mm512_castsi128_si512(_mm_cvtsi32_si128(load_vector<std::int32_t>(in)));
    }
};

}  // namespace
}  // namespace gradcoll::nm
