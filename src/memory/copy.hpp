// memory/copy.hpp - copies that a call's time is made of: by vector, and for destinations that are
// not read again soon with stores that go past the caches. One file an architecture.
#pragma once

#include <cstddef>
#include <cstring>

namespace gradcoll {

/// Copies more than a few lines as memcpy does, by the CPU's vectors. The C library takes `rep
/// movsb` where that is said to be fast, and on some CPUs it is not: AMD's Zen 3 needs six times as
/// long if the destination lies up to a line behind the source in its page, as vectors from
/// malloc() do beside shared memory (docs/gotchas.md). No overlap.
void copy_long(void* to, const void* from, std::size_t size_bytes);

/// Copies as memcpy does, but the addresses of 0 bytes may be null.
inline void copy_bytes(void* to, const void* from, std::size_t size_bytes) {
    constexpr std::size_t least_long = 2048;  // the C library's own loop is as good below
    if (size_bytes >= least_long)
        copy_long(to, from, size_bytes);
    else if (size_bytes != 0)
        std::memcpy(to, from, size_bytes);
}

/// Copies with non-temporal stores: the destination is neither fetched into the caches first nor
/// kept there. Pays for destinations that are larger than the last-level cache. The stores are
/// ordered before any later release of this thread. No overlap.
void copy_streaming(void* to, const void* from, std::size_t size_bytes);

/// stream_copy() wants the address that it writes to aligned to this.
inline constexpr std::size_t stream_alignment = 64;

/// Copies with such stores, for many copies in a row: `to` is aligned to stream_alignment, whole
/// lines of the cache go past it, and others see them after stream_fence().
void stream_copy(void* to, const void* from, std::size_t size_bytes);
void stream_fence();

}  // namespace gradcoll
