// memory/copy.hpp - copies, above all those whose destination is not read again soon: stores that
// go past the caches, where the CPU has them. One file an architecture.
#pragma once

#include <cstddef>
#include <cstring>

namespace gradcoll {

/// memcpy, but of nothing the addresses may be null.
inline void copy_bytes(void* to, const void* from, std::size_t size_bytes) {
    if (size_bytes != 0) std::memcpy(to, from, size_bytes);
}

/// memcpy with non-temporal stores: the destination is neither fetched into the caches first nor
/// kept there. Pays for destinations that are larger than the last-level cache. The stores are
/// ordered before any later release of this thread. No overlap.
void copy_streaming(void* to, const void* from, std::size_t size_bytes);

/// What stream_copy wants of the address that it writes to.
inline constexpr std::size_t stream_alignment = 64;

/// The same for many copies in a row: `to` is aligned to stream_alignment, whole lines of the cache
/// go past it, and others see them after stream_fence().
void stream_copy(void* to, const void* from, std::size_t size_bytes);
void stream_fence();

}  // namespace gradcoll
