// Allocation of scratch memory.
#include "memory/arena.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <string>

#include "base/round.hpp"

namespace gradcoll {
namespace {

std::size_t alignment_for(std::size_t bytes) {
    return bytes >= Arena::huge_page_bytes ? Arena::huge_page_bytes : Arena::alignment_bytes;
}

/// Returns null if the system does not give that much. `bytes` is a multiple of `alignment`.
std::byte* allocate(std::size_t bytes, std::size_t alignment) {
    void* area = std::aligned_alloc(alignment, bytes);
    // This is advice only: without huge pages the area works as well, a little slower.
    if (area != nullptr && alignment == Arena::huge_page_bytes) madvise(area, bytes, MADV_HUGEPAGE);
    return static_cast<std::byte*>(area);
}

}  // namespace

Status Arena::reserve(std::size_t bytes) {
    if (bytes <= capacity_bytes()) return {};
    const std::size_t alignment = alignment_for(bytes);
    // Pointers into the area are subtracted, so it must stay below PTRDIFF_MAX, rounding included.
    const bool representable = bytes <= static_cast<std::size_t>(PTRDIFF_MAX) - alignment;
    const std::size_t rounded = representable ? rounded_up(bytes, alignment) : 0;
    std::byte* area = representable ? allocate(rounded, alignment) : nullptr;
    if (area == nullptr)
        return {Code::out_of_memory,
                "cannot allocate " + std::to_string(bytes) + " bytes of scratch memory"};
    area_.reset(area);
    capacity_bytes_ = rounded;
    return {};
}

}  // namespace gradcoll
