// Kernels for AVX-512 F, BW, DQ and VL; compiled with those flags, called only where the CPU has
// them.
#include <immintrin.h>

#include "reduce/kernels_impl.hpp"

namespace gradcoll {
namespace {

struct Avx512 {
    static constexpr std::size_t vector_bytes = 64;
    using F16 = ConvertedF16<Avx512>;
    // The unmasked intrinsics of gcc 12 read an uninitialized variable by design, and it warns
    // about that.
    static constexpr __mmask16 all_lanes = 0xffff;

    template <class Floats, class Stored>
    [[gnu::always_inline]] static Floats widened(Stored halves) {
        return __builtin_bit_cast(
            Floats, _mm512_maskz_cvtph_ps(all_lanes, __builtin_bit_cast(__m256i, halves)));
    }
    template <class Stored, class Floats>
    [[gnu::always_inline]] static Stored narrowed(Floats floats) {
        return __builtin_bit_cast(
            Stored, _mm512_maskz_cvtps_ph(all_lanes, __builtin_bit_cast(__m512, floats),
                                          _MM_FROUND_TO_NEAREST_INT));
    }
    template <class V>
    [[gnu::always_inline]] static void stream(unsigned char* to, V vector) {
        if constexpr (sizeof(V) == 32)
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to),
                                __builtin_bit_cast(__m256i, vector));
        else
            _mm512_stream_si512(reinterpret_cast<__m512i*>(to),
                                __builtin_bit_cast(__m512i, vector));
    }
    static void fence() { _mm_sfence(); }
};

constexpr KernelTable table = make_kernel_table<Avx512>();

}  // namespace

const KernelTable& avx512_kernels() {
    return table;
}

}  // namespace gradcoll
