// compress/lanes/avx2.hpp - the lanes vocabulary (lanes/scalar.hpp) on 256-bit registers. Needs
// AVX2 and F16C.
#pragma once

#include "compress/lanes/least_word.hpp"
#include "compress/lanes/vector.hpp"
#include "reduce/vector_avx2.hpp"

namespace gradcoll {
namespace {

struct Avx2 : vectors::Avx2, PlainArithmetic {
    template <class Format>
    using Lanes = VectorLanes<Avx2, Format>;
    static constexpr bool has_vectors = true;
    static constexpr bool streams = false;  // measured: slower by way of the stack
    using Words = Vector<std::uint16_t, 16>;
    using Whole = Vector<std::int16_t, 16>;
    using Lanes32 = Vector<std::uint32_t, 8>;
    using Doubles = Vector<double, 4>;

    static Half lower(Words words) {
        return bit_copy<Half>(_mm256_castsi256_si128(bit_copy<__m256i>(words)));
    }
    static Half upper(Words words) {
        return bit_copy<Half>(_mm256_extracti128_si256(bit_copy<__m256i>(words), 1));
    }
    static Words joined(Half low, Half high) {
        return bit_copy<Words>(_mm256_set_m128i(bit_copy<__m128i>(high), bit_copy<__m128i>(low)));
    }
    static Lanes32 spread_low(Words words) { return spread(lower(words)); }
    static Lanes32 spread_high(Words words) { return spread(upper(words)); }

    static Floats smaller(Floats a, Floats b) {
        return bit_copy<Floats>(_mm256_min_ps(bit_copy<__m256>(a), bit_copy<__m256>(b)));
    }
    static Floats larger(Floats a, Floats b) {
        return bit_copy<Floats>(_mm256_max_ps(bit_copy<__m256>(a), bit_copy<__m256>(b)));
    }
    static Doubles smaller(Doubles a, Doubles b) {
        return bit_copy<Doubles>(_mm256_min_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b)));
    }
    static Doubles larger(Doubles a, Doubles b) {
        return bit_copy<Doubles>(_mm256_max_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b)));
    }
    template <class V>
    static auto smallest(V a) {
        return folded(a, [](V x, V y) { return smaller(x, y); });
    }
    template <class V>
    static auto largest(V a) {
        return folded(a, [](V x, V y) { return larger(x, y); });
    }
    static std::int16_t smallest(Whole a) { return least_word(bit_copy<__m256i>(a)); }
    static std::int16_t largest(Whole a) { return static_cast<std::int16_t>(~smallest(~a)); }

    template <class V>
    static bool any(V bits) {
        const auto words = bit_copy<__m256i>(bits);
        return _mm256_testz_si256(words, words) == 0;
    }

  private:
    /// Ahead takes lanes from so far ahead, going round.
    template <int ahead>
    struct Ahead {
        static constexpr int from(int i, int lanes) { return (i + ahead) % lanes; }
    };
    template <class V, class Combine>
    static auto folded(V a, Combine combine) {
        if constexpr (lanes_of<V> == 8) a = combine(a, shuffled<Ahead<4>>(a));
        a = combine(a, shuffled<Ahead<2>>(a));
        return combine(a, shuffled<Ahead<1>>(a))[0];
    }
    static Lanes32 spread(Half words) {
        return bit_copy<Lanes32>(_mm256_cvtepu16_epi32(bit_copy<__m128i>(words))) << 16;
    }
};

}  // namespace
}  // namespace gradcoll
