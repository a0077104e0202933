#include "base/spare_memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>

namespace gradcoll {
namespace {

/// This is enough for a communicator's tree, plans and scratch memory of a few ranks, with room to
/// spare.
constexpr std::size_t spare_bytes = std::size_t{8} << 20;

std::atomic<void*> spare{nullptr};

}  // namespace

void set_spare_memory_aside() noexcept {
    if (spare.load() != nullptr) return;
    void* const taken =
        mmap(nullptr, spare_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (taken != MAP_FAILED) spare = taken;
}

void free_spare_memory() noexcept {
    if (void* const taken = spare.exchange(nullptr); taken != nullptr) munmap(taken, spare_bytes);
}

}  // namespace gradcoll
