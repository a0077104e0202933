// Non-temporal stores on x86-64: SSE2, which every such CPU has.
#include <emmintrin.h>

#include <cstring>

#include "reduce/stream_copy.hpp"

namespace gradcoll {

void stream_copy(void* to, const void* from, std::size_t size_bytes) {
    auto* out = static_cast<__m128i*>(to);
    const auto* in = static_cast<const __m128i*>(from);
    const std::size_t lines = size_bytes / stream_alignment;
    for (std::size_t line = 0; line < lines; ++line, in += 4, out += 4) {
        const __m128i a = _mm_loadu_si128(in);
        const __m128i b = _mm_loadu_si128(in + 1);
        const __m128i c = _mm_loadu_si128(in + 2);
        const __m128i d = _mm_loadu_si128(in + 3);
        _mm_stream_si128(out, a);
        _mm_stream_si128(out + 1, b);
        _mm_stream_si128(out + 2, c);
        _mm_stream_si128(out + 3, d);
    }
    std::memcpy(out, in, size_bytes % stream_alignment);
}

void stream_fence() {
    _mm_sfence();
}

}  // namespace gradcoll
