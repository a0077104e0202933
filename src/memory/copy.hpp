// memory/copy.hpp - copies: through the caches, and with stores that go past them, where the CPU
// has those. One file an architecture.
#pragma once

#include <cstddef>
#include <cstring>

namespace gradcoll {

/// memcpy of vectors that are in a cache, vector register by vector register. From about 2 KiB on
/// the C library copies with `rep movsb`, which takes four times as long on Zen 4 where the
/// destination is up to 64 bytes behind the source in its page: where malloc() puts long vectors,
/// seen from a page of shared memory (docs/gotchas.md).
void copy_in_vectors(void* to, const void* from, std::size_t size_bytes);

/// memcpy, but of nothing the addresses may be null.
inline void copy_bytes(void* to, const void* from, std::size_t size_bytes) {
    constexpr std::size_t least_long = 2 << 10;
    constexpr std::size_t end_of_long = 4 << 20;
    if (size_bytes >= least_long && size_bytes < end_of_long)
        copy_in_vectors(to, from, size_bytes);
    else if (size_bytes != 0)
        std::memcpy(to, from, size_bytes);
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
