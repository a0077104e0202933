#include "api/comm/served_sizes.hpp"

#include <atomic>
#include <limits>

namespace gradcoll {
namespace {

std::atomic<std::uint64_t> least_bytes{std::numeric_limits<std::uint64_t>::max()};
std::atomic<void (*)()> listener{nullptr};

}  // namespace

void serve_from(std::uint64_t bytes) {
    std::uint64_t before = least_bytes;
    while (bytes < before && !least_bytes.compare_exchange_weak(before, bytes)) {
    }
    if (bytes >= before) return;
    if (void (*const tell)() = listener) tell();
}

std::uint64_t least_served_bytes() {
    return least_bytes;
}

void when_served_sizes_fall(void (*called)()) {
    listener = called;
}

}  // namespace gradcoll
