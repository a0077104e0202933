// compress/nm/nm_window_avx2.hpp - a window of 32 elements in two, four or eight 256-bit registers.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compress/nm/nm_lane_constants.hpp"
#include "compress/nm/nm_layout.hpp"

namespace gradcoll::nm {
namespace {

/// For each mask of eight lanes: where packed value k comes from (pack), where lane i comes from
/// (unpack; top bit set: nowhere). A row has unit_bytes entries a lane, which number the units of a
/// value's own bytes.
template <int unit_bytes>
struct PermuteTables {
    static constexpr int row_bytes = 8 * unit_bytes;
    alignas(64) std::uint8_t pack[256][row_bytes];
    alignas(64) std::uint8_t unpack[256][row_bytes];

    constexpr PermuteTables() : pack(), unpack() {
        for (int mask = 0; mask < 256; ++mask) {
            int kept = 0;
            for (int lane = 0; lane < 8; ++lane) {
                const bool is_kept = (mask >> lane & 1) != 0;
                for (int unit = 0; unit < unit_bytes; ++unit) {
                    const int from = is_kept ? kept * unit_bytes + unit : 0x80;
                    unpack[mask][lane * unit_bytes + unit] = static_cast<std::uint8_t>(from);
                    if (is_kept)
                        pack[mask][from] = static_cast<std::uint8_t>(lane * unit_bytes + unit);
                }
                kept += is_kept ? 1 : 0;
            }
        }
    }
};
constexpr PermuteTables<1> lane_tables;
constexpr PermuteTables<2> byte_pair_tables;

inline __m256i constants(const void* from) {
    return _mm256_load_si256(static_cast<const __m256i*>(from));
}
inline __m128i table_row(const std::uint8_t (&row)[8]) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row));
}
inline __m128i table_row(const std::uint8_t (&row)[16]) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(row));
}

/// The operations that differ by the width of a lane. `pack` stores the kept values of one register
/// (it may write 32 bytes whatever their number); `unpack` loads them (it may read 32 bytes).
template <class Bits>
struct Avx2Int;

template <>
struct Avx2Int<std::uint16_t> {
    static __m256i magnitude(__m256i v) { return _mm256_and_si256(v, _mm256_set1_epi16(0x7fff)); }
    static __m256i max(__m256i a, __m256i b) { return _mm256_max_epi16(a, b); }
    static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi16(a, b); }
    static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi16(a, b); }
    static __m256i greater(__m256i a, __m256i b) { return _mm256_cmpgt_epi16(a, b); }
    static __m256i splat(int value) { return _mm256_set1_epi16(static_cast<short>(value)); }
    template <int M, int r>
    static __m256i ahead(__m256i v) {
        if constexpr (M == 8) return _mm256_alignr_epi8(v, v, 2 * r);
        return _mm256_shuffle_epi8(v,
                                   constants(AheadIndex<std::uint8_t, 2, M, r, 16>::value.units));
    }
    static std::uint32_t ballot(const __m256i* flags) {
        const __m256i mixed = _mm256_packs_epi16(flags[0], flags[1]);
        const __m256i in_order = _mm256_permute4x64_epi64(mixed, 0xd8);
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(in_order));
    }

    static void pack(__m256i v, std::uint32_t mask, std::byte* out) {
        const __m128i low = _mm_shuffle_epi8(_mm256_castsi256_si128(v),
                                             table_row(byte_pair_tables.pack[mask & 0xff]));
        const __m128i high = _mm_shuffle_epi8(_mm256_extracti128_si256(v, 1),
                                              table_row(byte_pair_tables.pack[mask >> 8]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), low);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * __builtin_popcount(mask & 0xff)),
                         high);
    }
    static __m256i unpack(const std::byte* in, std::uint32_t mask) {
        const std::byte* upper = in + 2 * __builtin_popcount(mask & 0xff);
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(upper));
        return _mm256_set_m128i(
            _mm_shuffle_epi8(high, table_row(byte_pair_tables.unpack[mask >> 8])),
            _mm_shuffle_epi8(low, table_row(byte_pair_tables.unpack[mask & 0xff])));
    }
};

template <>
struct Avx2Int<std::uint32_t> {
    static __m256i magnitude(__m256i v) {
        return _mm256_and_si256(v, _mm256_set1_epi32(0x7fffffff));
    }
    static __m256i max(__m256i a, __m256i b) { return _mm256_max_epi32(a, b); }
    static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi32(a, b); }
    static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi32(a, b); }
    static __m256i greater(__m256i a, __m256i b) { return _mm256_cmpgt_epi32(a, b); }
    static __m256i splat(int value) { return _mm256_set1_epi32(value); }
    template <int M, int r>
    static __m256i ahead(__m256i v) {
        if constexpr (M == 4) return _mm256_shuffle_epi32(v, rotation_of_four<r>);
        const auto* index = AheadIndex<std::uint32_t, 1, M, r, 8>::value.units;
        return _mm256_permutevar8x32_epi32(v, constants(index));
    }
    static std::uint32_t ballot(const __m256i* flags) {
        std::uint32_t word = 0;
        for (int k = 0; k < 4; ++k)
            word |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(flags[k])))
                    << (8 * k);
        return word;
    }
    static void pack(__m256i v, std::uint32_t mask, std::byte* out) {
        const __m256i index = _mm256_cvtepu8_epi32(table_row(lane_tables.pack[mask]));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(v, index));
    }
    static __m256i unpack(const std::byte* in, std::uint32_t mask) {
        const __m256i index = _mm256_cvtepi8_epi32(table_row(lane_tables.unpack[mask]));
        const __m256i packed = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
        const __m256i spread = _mm256_permutevar8x32_epi32(packed, index);
        return _mm256_andnot_si256(_mm256_srai_epi32(index, 31), spread);
    }
};

template <>
struct Avx2Int<std::uint64_t> {
    static __m256i magnitude(__m256i v) {
        return _mm256_and_si256(v, _mm256_set1_epi64x(0x7fffffffffffffff));
    }
    static __m256i max(__m256i a, __m256i b) { return _mm256_blendv_epi8(b, a, greater(a, b)); }
    static __m256i add(__m256i a, __m256i b) { return _mm256_add_epi64(a, b); }
    static __m256i equal(__m256i a, __m256i b) { return _mm256_cmpeq_epi64(a, b); }
    static __m256i greater(__m256i a, __m256i b) { return _mm256_cmpgt_epi64(a, b); }
    static __m256i splat(int value) { return _mm256_set1_epi64x(value); }
    template <int M, int r>
    static __m256i ahead(__m256i v) {
        return _mm256_permute4x64_epi64(v, rotation_of_four<r>);
    }
    /// For groups of eight: this half, the other half.
    template <int r>
    static __m256i ahead_of_two(__m256i v, __m256i other) {
        constexpr int from_other = (1 << 2 * r) - 1;  // the first r lanes, as pairs of dwords
        const __m256i mixed = _mm256_blend_epi32(v, other, from_other);
        return _mm256_permute4x64_epi64(mixed, rotation_of_four<r>);
    }
    static std::uint32_t ballot(const __m256i* flags) {
        std::uint32_t word = 0;
        for (int k = 0; k < 8; ++k)
            word |= static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(flags[k])))
                    << (4 * k);
        return word;
    }
    static __m256i dwords_of(__m256i index) {  // i -> 2i in the lower, 2i + 1 in the upper half
        const __m256i lower = _mm256_slli_epi64(index, 1);
        const __m256i upper = _mm256_slli_epi64(_mm256_add_epi64(lower, splat(1)), 32);
        return _mm256_or_si256(lower, upper);
    }
    static void pack(__m256i v, std::uint32_t mask, std::byte* out) {
        const __m256i index = _mm256_cvtepu8_epi64(table_row(lane_tables.pack[mask]));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                            _mm256_permutevar8x32_epi32(v, dwords_of(index)));
    }
    static __m256i unpack(const std::byte* in, std::uint32_t mask) {
        const __m256i index = _mm256_cvtepu8_epi64(table_row(lane_tables.unpack[mask]));
        const __m256i packed = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
        const __m256i spread = _mm256_permutevar8x32_epi32(packed, dwords_of(index));
        return _mm256_andnot_si256(greater(index, splat(0x7f)), spread);
    }
};

/// Byte i of the result is byte i ^ distance.
template <int distance>
inline __m256i exchange_bytes(__m256i v) {
    if constexpr ((distance & 16) != 0) v = _mm256_permute4x64_epi64(v, 0x4e);
    constexpr int dwords = (distance & 15) / 4;
    if constexpr (dwords != 0) {
        constexpr int order =
            (0 ^ dwords) | (1 ^ dwords) << 2 | (2 ^ dwords) << 4 | (3 ^ dwords) << 6;
        v = _mm256_shuffle_epi32(v, order);
    }
    if constexpr ((distance & 2) != 0)
        v = _mm256_or_si256(_mm256_slli_epi32(v, 16), _mm256_srli_epi32(v, 16));
    return v;
}

/// The machine of nm_lanes.hpp; registers hold 16, 8 or 4 lanes each.
template <class Bits>
struct Avx2Window {
    static constexpr int lanes = 32 / static_cast<int>(sizeof(Bits));
    static constexpr int registers = static_cast<int>(window_elems) / lanes;
    static constexpr std::size_t overrun_bytes =
        32;  // how far pack and unpack reach behind the kept values
    using Int = Avx2Int<Bits>;

    struct Keys {
        __m256i r[registers];
    };
    using Flags = Keys;  // all bits of a lane are equal
    using Values = Keys;

    static Values load(const std::byte* from) {
        Values values;
        for (int k = 0; k < registers; ++k)
            values.r[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32 * k));
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
        for (int k = 0; k < registers; ++k) {
            if constexpr (M <= lanes)
                out.r[k] = Int::template ahead<M, r>(keys.r[k]);
            else
                out.r[k] = Int::template ahead_of_two<r>(keys.r[k], keys.r[k ^ 1]);
        }
        return out;
    }
    template <int M, int below>
    static Keys less_one_below(const Keys& keys) {
        Keys out;
        const Bits* minus_one = MinusOneBelow<Bits, M, below>::value.lanes;
        for (int k = 0; k < registers; ++k)
            out.r[k] = Int::add(keys.r[k], constants(minus_one + lanes * k));
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
    static std::uint32_t ballot(const Flags& flags) { return Int::ballot(flags.r); }

    /// The values that the word marks, +0 in place of the others.
    static Values keep(const Values& values, std::uint32_t word) {
        Values out;
        const __m256i bits = constants(BitOfLane<Bits, lanes>::value.lanes);
        for (int k = 0; k < registers; ++k) {
            const __m256i word_everywhere = Int::splat(static_cast<int>(mask_of(word, k)));
            const __m256i marked = Int::equal(_mm256_and_si256(word_everywhere, bits), bits);
            out.r[k] = _mm256_and_si256(values.r[k], marked);
        }
        return out;
    }

    /// Packs the kept values of a window; may write overrun_bytes more.
    template <class S>
    static void pack(const Values& values, std::uint32_t word, std::byte* out) {
        for (int k = 0; k < registers; ++k) {
            const std::uint32_t mask = mask_of(word, k);
            Int::pack(values.r[k], mask, out);
            out += kept_bytes<S>(mask);
        }
    }

    /// The window of `in`'s values at the places that the word marks, +0 elsewhere; may read
    /// overrun_bytes more.
    template <class S>
    static Values unpack(const std::byte* in, std::uint32_t word) {
        Values values;
        for (int k = 0; k < registers; ++k) {
            const std::uint32_t mask = mask_of(word, k);
            values.r[k] = Int::unpack(in, mask);
            in += kept_bytes<S>(mask);
        }
        return values;
    }

  private:
    static std::uint32_t mask_of(std::uint32_t word, int k) {
        return word >> (lanes * k % 32) & ((1u << lanes) - 1);
    }
    template <class S>
    static std::size_t kept_bytes(std::uint32_t mask) {
        if constexpr (S::M <= lanes) return sizeof(Bits) * lanes * S::N / S::M;
        return sizeof(Bits) * static_cast<std::size_t>(__builtin_popcount(mask));
    }
};

}  // namespace
}  // namespace gradcoll::nm
