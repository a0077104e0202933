// compress/zip/zip_bytes_avx512.hpp - zip_bytes.hpp with AVX-512.
#pragma once

#include "compress/lanes/avx512.hpp"
#include "compress/zip/zip_bytes.hpp"

namespace gradcoll::zip {
namespace {

template <>
struct ByteMoves<Avx512> {
    static constexpr std::size_t vector_bytes = 64;

    static std::uint64_t top_bits(const std::uint8_t* bytes) {
        return _mm512_movepi8_mask(_mm512_loadu_si512(bytes));
    }
    static void add_where(std::uint64_t bits, std::uint8_t one, std::uint8_t* bytes) {
        const __m512i before = _mm512_loadu_si512(bytes);
        const __m512i ones = _mm512_set1_epi8(static_cast<char>(one));
        _mm512_storeu_si512(bytes, _mm512_mask_add_epi8(before, bits, before, ones));
    }
    template <class V>
    [[gnu::always_inline]] static void store_low_bytes(void* to, V words) {
        const auto all = bit_copy<__m512i>(words);
        if constexpr (sizeof(words[0]) == 2)
            store_vector(to, _mm512_maskz_cvtepi16_epi8(__mmask32{0xffffffff}, all));
        else if constexpr (sizeof(words[0]) == 4)
            store_vector(to, _mm512_maskz_cvtepi32_epi8(__mmask16{0xffff}, all));
        else
            _mm_storel_epi64(static_cast<__m128i*>(to),
                             _mm512_maskz_cvtepi64_epi8(__mmask8{0xff}, all));
    }
    template <class V>
    [[gnu::always_inline]] static V load_bytes(const std::uint8_t* from) {
        if constexpr (sizeof(V{}[0]) == 2)
            return bit_copy<V>(
                _mm512_maskz_cvtepu8_epi16(__mmask32{0xffffffff}, load_vector<__m256i>(from)));
        else if constexpr (sizeof(V{}[0]) == 4)
            return bit_copy<V>(
                _mm512_maskz_cvtepu8_epi32(__mmask16{0xffff}, load_vector<__m128i>(from)));
        else
            return bit_copy<V>(_mm512_maskz_cvtepu8_epi64(
                __mmask8{0xff}, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
    }
};

}  // namespace
}  // namespace gradcoll::zip
