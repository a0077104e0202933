// memory/copy_x86.cpp - copies with AVX where the CPU has it; streaming ones with SSE2, which every
// x86-64 has.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "memory/copy.hpp"

namespace gradcoll {
namespace {

/// So far ahead of its stores a copy asks for the lines that it will write.
constexpr std::size_t claimed_ahead = 2048;

/// Asks for the lines of [from, end) as one who will write them: other cores that have read them
/// give them up meanwhile. CPUs that do not know the instruction do nothing.
__attribute__((target("avx,prfchw"))) inline void claim(std::byte* from, std::byte* end) {
    constexpr std::size_t line = 64;
    for (std::byte* at = from; at < end; at += line) _m_prefetchw(at);
}

/// Copies whole groups of four vectors, from the first aligned address on, and returns how far it
/// came. Lines of shared memory that others have read come a few at a time if stores alone ask for
/// them.
__attribute__((target("avx,prfchw"))) std::size_t copy_groups_avx(std::byte* to,
                                                                  const std::byte* from,
                                                                  std::size_t size_bytes) {
    constexpr std::size_t vector = sizeof(__m256i);
    constexpr std::size_t group = 4 * vector;
    std::size_t at = (vector - reinterpret_cast<std::uintptr_t>(to) % vector) % vector;
    std::memcpy(to, from, at);
    std::byte* const end = to + size_bytes;
    claim(to + at, std::min(to + at + claimed_ahead, end));
    for (; at + group <= size_bytes; at += group) {
        const auto* const in = reinterpret_cast<const __m256i*>(from + at);
        auto* const out = reinterpret_cast<__m256i*>(to + at);
        std::byte* const ahead = to + at + claimed_ahead;
        if (ahead + group <= end) claim(ahead, ahead + group);
        const __m256i a = _mm256_loadu_si256(in);
        const __m256i b = _mm256_loadu_si256(in + 1);
        const __m256i c = _mm256_loadu_si256(in + 2);
        const __m256i d = _mm256_loadu_si256(in + 3);
        _mm256_store_si256(out, a);
        _mm256_store_si256(out + 1, b);
        _mm256_store_si256(out + 2, c);
        _mm256_store_si256(out + 3, d);
    }
    return at;
}

}  // namespace

void copy_long(void* to, const void* from, std::size_t size_bytes) {
    static const bool has_avx = __builtin_cpu_supports("avx") != 0;
    constexpr std::size_t least = 256;
    const bool by_vector = has_avx && size_bytes >= least;
    auto* const out = static_cast<std::byte*>(to);
    const auto* const in = static_cast<const std::byte*>(from);
    const std::size_t done = by_vector ? copy_groups_avx(out, in, size_bytes) : 0;
    if (done < size_bytes) std::memcpy(out + done, in + done, size_bytes - done);
}

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
