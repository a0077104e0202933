// Kernels for AVX2 with F16C; compiled with those flags, called only where the CPU has them.
#include <immintrin.h>

#include "reduce/kernels_impl.hpp"

namespace gradcoll {
namespace {

struct Avx2 {
    static constexpr std::size_t vector_bytes = 32;
    using F16 = ConvertedF16<Avx2>;

    template <class Floats, class Stored>
    [[gnu::always_inline]] static Floats widened(Stored halves) {
        return __builtin_bit_cast(Floats, _mm256_cvtph_ps(__builtin_bit_cast(__m128i, halves)));
    }
    template <class Stored, class Floats>
    [[gnu::always_inline]] static Stored narrowed(Floats floats) {
        return __builtin_bit_cast(
            Stored, _mm256_cvtps_ph(__builtin_bit_cast(__m256, floats), _MM_FROUND_TO_NEAREST_INT));
    }
    template <class V>
    [[gnu::always_inline]] static void stream(unsigned char* to, V vector) {
        if constexpr (sizeof(V) == 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(to), __builtin_bit_cast(__m128i, vector));
        else
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to),
                                __builtin_bit_cast(__m256i, vector));
    }
    static void fence() { _mm_sfence(); }
};

constexpr KernelTable table = make_kernel_table<Avx2>();

}  // namespace

const KernelTable& avx2_kernels() {
    return table;
}

}  // namespace gradcoll
