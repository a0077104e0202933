// compress/zip/zip_bytes_avx2.hpp - zip_bytes.hpp with AVX2.
#pragma once

#include "compress/lanes/avx2.hpp"
#include "compress/zip/zip_bytes.hpp"

namespace gradcoll::zip {
namespace {

template <>
struct ByteMoves<Avx2> {
    static constexpr std::size_t vector_bytes = 32;

    static std::uint64_t top_bits(const std::uint8_t* bytes) {
        return half_of_bits(bytes) | half_of_bits(bytes + 32) << 32;
    }
    static void add_where(std::uint64_t bits, std::uint8_t one, std::uint8_t* bytes) {
        add_to_half(static_cast<std::uint32_t>(bits), one, bytes);
        add_to_half(static_cast<std::uint32_t>(bits >> 32), one, bytes + 32);
    }
    template <class V>
    [[gnu::always_inline]] static void store_low_bytes(void* to, V words) {
        const auto all = bit_copy<__m256i>(words);
        if constexpr (sizeof(words[0]) == 2) {
            const __m256i low = _mm256_and_si256(all, _mm256_set1_epi16(0xff));
            store_vector(to, _mm_packus_epi16(_mm256_castsi256_si128(low),
                                              _mm256_extracti128_si256(low, 1)));
            return;
        }
        // The bytes of each half come to its front, and then those of both side by side.
        const auto halves = bit_copy<Vector<std::uint64_t, 4>>(
            _mm256_shuffle_epi8(all, _mm256_broadcastsi128_si256(order_of<sizeof(words[0])>())));
        const std::uint64_t bytes = halves[0] | halves[2] << (sizeof(words[0]) == 4 ? 32 : 16);
        std::memcpy(to, &bytes, lanes_of<V>);
    }
    template <class V>
    [[gnu::always_inline]] static V load_bytes(const std::uint8_t* from) {
        if constexpr (sizeof(V{}[0]) == 2) {
            return bit_copy<V>(_mm256_cvtepu8_epi16(load_vector<__m128i>(from)));
        } else if constexpr (sizeof(V{}[0]) == 4) {
            return bit_copy<V>(
                _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
        } else {
            int four = 0;
            std::memcpy(&four, from, sizeof four);
            return bit_copy<V>(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)));
        }
    }

  private:
    template <int bytes>
    static __m128i order_of() {
        if constexpr (bytes == 4) return _mm_set_epi32(-1, -1, -1, 0x0c080400);
        return _mm_set_epi32(-1, -1, -1, static_cast<int>(0xffff0800));
    }
    static std::uint64_t half_of_bits(const std::uint8_t* bytes) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(load_vector<__m256i>(bytes)));
    }
    static void add_to_half(std::uint32_t bits, std::uint8_t one, std::uint8_t* bytes) {
        const __m256i byte_of =
            _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
        const __m256i bit_of = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
        const __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), byte_of);
        const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(all, bit_of), bit_of);
        const __m256i ones = _mm256_and_si256(is_set, _mm256_set1_epi8(static_cast<char>(one)));
        store_vector(bytes, _mm256_add_epi8(load_vector<__m256i>(bytes), ones));
    }
};

}  // namespace
}  // namespace gradcoll::zip
