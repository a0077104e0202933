// compress/nm/nm_packer_avx2.hpp - packing with AVX2 (nm_window.hpp): by tables of permutations.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "compress/lanes/avx2.hpp"
#include "compress/nm/nm_packer_tables.hpp"
#include "compress/nm/nm_window.hpp"

namespace gradcoll::nm {
namespace {

constexpr PermuteTables<8, 1> lane_tables;
constexpr PermuteTables<8, 2> byte_pair_tables;

inline __m128i table_row(const std::uint8_t (&row)[8]) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row));
}
inline __m128i table_row(const std::uint8_t (&row)[16]) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(row));
}

/// Avx2Int has the operations that differ by the width of a lane: the signs of the window's flags
/// as a word; the kept values of one register, which store 32 bytes and load 32 bytes whatever
/// their number.
template <class Bits>
struct Avx2Int;

template <>
struct Avx2Int<std::uint16_t> {
    using Register = __m256i;
    template <class Flag>
    static std::uint32_t ballot(const Flag* flags) {
        const __m256i mixed =
            _mm256_packs_epi16(bit_copy<__m256i>(flags[0]), bit_copy<__m256i>(flags[1]));
        const __m256i in_order = _mm256_permute4x64_epi64(mixed, 0xd8);
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(in_order));
    }
    static void pack(__m256i v, std::uint32_t mask, std::byte* out) {
        const __m128i low = _mm_shuffle_epi8(_mm256_castsi256_si128(v),
                                             table_row(byte_pair_tables.pack[mask & 0xff]));
        const __m128i high = _mm_shuffle_epi8(_mm256_extracti128_si256(v, 1),
                                              table_row(byte_pair_tables.pack[mask >> 8]));
        store_vector(out, low);
        store_vector(out + 2 * __builtin_popcount(mask & 0xff), high);
    }
    static __m256i unpack(const std::byte* in, std::uint32_t mask) {
        const auto low = load_vector<__m128i>(in);
        const auto high = load_vector<__m128i>(in + 2 * __builtin_popcount(mask & 0xff));
        return _mm256_set_m128i(
            _mm_shuffle_epi8(high, table_row(byte_pair_tables.unpack[mask >> 8])),
            _mm_shuffle_epi8(low, table_row(byte_pair_tables.unpack[mask & 0xff])));
    }
};

template <>
struct Avx2Int<std::uint32_t> {
    using Register = __m256i;
    template <class Flag>
    static std::uint32_t ballot(const Flag* flags) {
        std::uint32_t word = 0;
        for (int k = 0; k < 4; ++k)
            word |= static_cast<std::uint32_t>(_mm256_movemask_ps(bit_copy<__m256>(flags[k])))
                    << (8 * k);
        return word;
    }
    static void pack(__m256i v, std::uint32_t mask, std::byte* out) {
        const __m256i index = _mm256_cvtepu8_epi32(table_row(lane_tables.pack[mask]));
        store_vector(out, _mm256_permutevar8x32_epi32(v, index));
    }
    static __m256i unpack(const std::byte* in, std::uint32_t mask) {
        const __m256i index = _mm256_cvtepi8_epi32(table_row(lane_tables.unpack[mask]));
        const __m256i spread = _mm256_permutevar8x32_epi32(load_vector<__m256i>(in), index);
        return _mm256_andnot_si256(_mm256_srai_epi32(index, 31), spread);
    }
};

template <>
struct Avx2Int<std::uint64_t> {
    using Register = __m256i;
    template <class Flag>
    static std::uint32_t ballot(const Flag* flags) {
        std::uint32_t word = 0;
        for (int k = 0; k < 8; ++k)
            word |= static_cast<std::uint32_t>(_mm256_movemask_pd(bit_copy<__m256d>(flags[k])))
                    << (4 * k);
        return word;
    }
    static void pack(__m256i v, std::uint32_t mask, std::byte* out) {
        const __m256i index = _mm256_cvtepu8_epi64(table_row(lane_tables.pack[mask]));
        store_vector(out, _mm256_permutevar8x32_epi32(v, dwords_of(index)));
    }
    static __m256i unpack(const std::byte* in, std::uint32_t mask) {
        const __m256i index = _mm256_cvtepu8_epi64(table_row(lane_tables.unpack[mask]));
        const __m256i spread =
            _mm256_permutevar8x32_epi32(load_vector<__m256i>(in), dwords_of(index));
        return _mm256_andnot_si256(_mm256_cmpgt_epi64(index, _mm256_set1_epi64x(0x7f)), spread);
    }

  private:
    static __m256i dwords_of(__m256i index) {  // i -> 2i in the lower, 2i + 1 in the upper half
        const __m256i lower = _mm256_slli_epi64(index, 1);
        const __m256i upper = _mm256_slli_epi64(_mm256_add_epi64(lower, _mm256_set1_epi64x(1)), 32);
        return _mm256_or_si256(lower, upper);
    }
};

template <class Bits>
struct Packer<Avx2, Bits> : TablePacker<Bits, Avx2Int<Bits>> {
    using Tables = TablePacker<Bits, Avx2Int<Bits>>;
    using typename Tables::Flag;
    using typename Tables::Key;
    using typename Tables::Reg;

    static Key permuted(Key keys, Reg order) {
        return bit_copy<Key>(
            _mm256_permutevar8x32_epi32(bit_copy<__m256i>(keys), bit_copy<__m256i>(order)));
    }
    static bool any(Flag flag) { return _mm256_movemask_epi8(bit_copy<__m256i>(flag)) != 0; }
};

}  // namespace
}  // namespace gradcoll::nm
