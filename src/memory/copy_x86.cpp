// memory/copy_x86.cpp - streaming copies with SSE2, which every x86-64 has.
#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "memory/copy.hpp"

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

void copy_streaming(void* to, const void* from, std::size_t size_bytes) {
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(to) % stream_alignment;
    const std::size_t head =
        std::min(size_bytes, misaligned == 0 ? 0 : stream_alignment - misaligned);
    std::memcpy(to, from, head);
    stream_copy(static_cast<std::byte*>(to) + head, static_cast<const std::byte*>(from) + head,
                size_bytes - head);
    stream_fence();
}

}  // namespace gradcoll
