#include "base/spare_room.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>

namespace gradcoll {
namespace {

constexpr std::size_t ample_bytes = std::size_t{256} << 10;

/// Returns the lowest address of this thread's stack; 0 if it cannot be found out.
std::uintptr_t found_end_of_stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    void* lowest = nullptr;
    std::size_t size_bytes = 0;
    const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size_bytes) == 0;
    pthread_attr_destroy(&attributes);
    return is_known ? reinterpret_cast<std::uintptr_t>(lowest) : 0;
}

/// Returns whether there is room. A stack that cannot be found out is ample. Each thread asks once:
/// of a program's first thread the C library reads all that /proc says of its memory.
bool has_room() {
    thread_local const std::uintptr_t end = found_end_of_stack();
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - end >= ample_bytes;
}

/// This is enough for a communicator's tree, plans and scratch memory of a few ranks, with room to
/// spare.
constexpr std::size_t spare_bytes = std::size_t{8} << 20;

std::atomic<void*> spare{nullptr};

}  // namespace

void run_with_room_on_stack(const std::function<void()>& work) {
    if (has_room()) return work();
    std::exception_ptr thrown;
    std::thread roomy;
    try {
        roomy = std::thread([&] {
            try {
                work();
            } catch (...) {
                thrown = std::current_exception();
            }
        });
    } catch (const std::system_error&) {
        return work();
    }
    roomy.join();
    if (thrown) std::rethrow_exception(thrown);
}

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
