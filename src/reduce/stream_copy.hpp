// reduce/stream_copy.hpp - stores that go past the caches; one file an architecture. Private to
// this folder.
#pragma once

#include <cstddef>

namespace gradcoll {

/// What stream_copy wants of the address that it writes to.
inline constexpr std::size_t stream_alignment = 64;

/// Copies `size_bytes` to `to`, which is aligned to stream_alignment; whole lines of the cache go
/// past it. Others see them after stream_fence().
void stream_copy(void* to, const void* from, std::size_t size_bytes);
void stream_fence();

}  // namespace gradcoll
