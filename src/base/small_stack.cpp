#include "base/small_stack.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>

namespace gradcoll {
namespace {

constexpr std::size_t ample_bytes = std::size_t{256} << 10;

/// Returns whether there is room. A stack that cannot be found out is ample.
bool has_room() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return true;
    void* lowest = nullptr;
    std::size_t size_bytes = 0;
    const bool is_known = pthread_attr_getstack(&attributes, &lowest, &size_bytes) == 0;
    pthread_attr_destroy(&attributes);
    const auto here = reinterpret_cast<std::uintptr_t>(&attributes);
    return !is_known || here - reinterpret_cast<std::uintptr_t>(lowest) >= ample_bytes;
}

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

}  // namespace gradcoll
