// memory/copy_x86.cpp - streaming copies with the stores that every x86-64 has.
#include <emmintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "memory/copy.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t line_bytes = 64;

void stream_line(std::byte* to, const std::byte* from) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
}

}  // namespace

void copy_streaming(void* to, const void* from, std::size_t size_bytes) {
    auto* target = static_cast<std::byte*>(to);
    const auto* source = static_cast<const std::byte*>(from);
    const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
    const std::size_t head = std::min(size_bytes, misaligned == 0 ? 0 : line_bytes - misaligned);
    std::memcpy(target, source, head);
    std::size_t at = head;
    for (; size_bytes - at >= line_bytes; at += line_bytes) stream_line(target + at, source + at);
    std::memcpy(target + at, source + at, size_bytes - at);
    _mm_sfence();
}

}  // namespace gradcoll
