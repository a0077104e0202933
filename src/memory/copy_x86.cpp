// memory/copy_x86.cpp - copies with SSE2, which every x86-64 has.
#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// `store`: of 16 bytes, at an aligned address.
template <class Store>
void copy_aligned(void* to, const void* from, std::size_t size_bytes, Store store) {
    auto* out = static_cast<__m128i*>(to);
    const auto* in = static_cast<const __m128i*>(from);
    const std::size_t lines = size_bytes / stream_alignment;
    for (std::size_t line = 0; line < lines; ++line, in += 4, out += 4) {
        const __m128i a = _mm_loadu_si128(in);
        const __m128i b = _mm_loadu_si128(in + 1);
        const __m128i c = _mm_loadu_si128(in + 2);
        const __m128i d = _mm_loadu_si128(in + 3);
        store(out, a);
        store(out + 1, b);
        store(out + 2, c);
        store(out + 3, d);
    }
    std::memcpy(out, in, size_bytes % stream_alignment);
}

/// `copy`: to an aligned address.
template <class Copy>
void copy_from_alignment(void* to, const void* from, std::size_t size_bytes, Copy copy) {
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(to) % stream_alignment;
    const std::size_t head =
        std::min(size_bytes, misaligned == 0 ? 0 : stream_alignment - misaligned);
    std::memcpy(to, from, head);
    copy(static_cast<std::byte*>(to) + head, static_cast<const std::byte*>(from) + head,
         size_bytes - head);
}

}  // namespace

void copy_in_vectors(void* to, const void* from, std::size_t size_bytes) {
    copy_from_alignment(to, from, size_bytes, [](void* out, const void* in, std::size_t bytes) {
        copy_aligned(out, in, bytes, [](__m128i* at, __m128i v) { _mm_store_si128(at, v); });
    });
}

void stream_copy(void* to, const void* from, std::size_t size_bytes) {
    copy_aligned(to, from, size_bytes, [](__m128i* at, __m128i v) { _mm_stream_si128(at, v); });
}

void stream_fence() {
    _mm_sfence();
}

void copy_streaming(void* to, const void* from, std::size_t size_bytes) {
    copy_from_alignment(to, from, size_bytes, stream_copy);
    stream_fence();
}

}  // namespace gradcoll
