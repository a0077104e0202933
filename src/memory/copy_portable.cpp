// memory/copy_portable.cpp - streaming copies where we know no stores for them.
#include <cstring>

#include "memory/copy.hpp"

namespace gradcoll {

void stream_copy(void* to, const void* from, std::size_t size_bytes) {
    std::memcpy(to, from, size_bytes);
}

void stream_fence() {}

void copy_streaming(void* to, const void* from, std::size_t size_bytes) {
    std::memcpy(to, from, size_bytes);
}

}  // namespace gradcoll
