// memory/copy_portable.cpp - copies where we know no stores past the caches.
#include <cstring>

#include "memory/copy.hpp"

namespace gradcoll {

void copy_in_vectors(void* to, const void* from, std::size_t size_bytes) {
    std::memcpy(to, from, size_bytes);
}

void stream_copy(void* to, const void* from, std::size_t size_bytes) {
    std::memcpy(to, from, size_bytes);
}

void stream_fence() {}

void copy_streaming(void* to, const void* from, std::size_t size_bytes) {
    std::memcpy(to, from, size_bytes);
}

}  // namespace gradcoll
