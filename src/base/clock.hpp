// base/clock.hpp - the clock that spans of time are measured with.
#pragma once

#include <chrono>
#include <cstdint>

namespace gradcoll {

/// Of a steady clock.
inline std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
}

}  // namespace gradcoll
