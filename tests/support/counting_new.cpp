#include "support/counting_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size) noexcept {
    ++allocations;
    return std::malloc(size ? size : 1);
}

void* counted_or_throw(std::size_t size) {
    if (void* memory = counted(size)) return memory;
    throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) {
    return counted_or_throw(size);
}
void* operator new[](std::size_t size) {
    return counted_or_throw(size);
}
// Sanitizers have these of their own, whose memory must not go to free().
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

long gradcoll::test::allocation_count() {
    return allocations;
}
