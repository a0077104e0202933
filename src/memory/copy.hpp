// memory/copy.hpp - copies whose destination is not read again soon.
#pragma once

#include <cstddef>

namespace gradcoll {

/// memcpy with non-temporal stores where the CPU has them: the destination is neither fetched into
/// the caches first nor kept there. Pays for destinations that are larger than the last-level
/// cache. The stores are ordered before any later release of this thread. No overlap.
void copy_streaming(void* to, const void* from, std::size_t size_bytes);

}  // namespace gradcoll
