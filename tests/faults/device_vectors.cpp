// Vectors in the memory of the device that GC_DEVICE names, for faulty.c, which loads this library.
#include <sched.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "support/device_of_plugin.hpp"

namespace gradcoll::test {
namespace {

struct Copies {
    std::unique_ptr<DeviceStream> stream = std::move(device().make_stream()).value();
    std::unique_ptr<DeviceMark> mark = std::move(device().make_mark()).value();
};

/// Returns the copies, which are never destroyed: the plug-in may end first.
Copies& copies() {
    static Copies& copies = *new Copies;
    return copies;
}

}  // namespace
}  // namespace gradcoll::test

extern "C" {

__attribute__((visibility("default"))) void* device_vector(std::size_t size_bytes) {
    return gradcoll::test::device().allocate(size_bytes).value();
}

/// Copies between any memories; returns when it is done.
__attribute__((visibility("default"))) void device_copy(void* to, const void* from,
                                                        std::size_t size_bytes) {
    auto& [stream, mark] = gradcoll::test::copies();
    if (!stream->copy(to, from, size_bytes).ok()) std::abort();
    if (!stream->record(*mark).ok()) std::abort();
    while (!mark->passed().value()) sched_yield();
}

}  // extern "C"
