// base/clock.hpp - the clock that spans of time are measured with.
#pragma once

#include <cstdint>
#include <ctime>

namespace gradcoll {

/// Returns the time of the steady clock (what std::chrono::steady_clock reads, without that
/// header's weight).
inline std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

constexpr double seconds_of(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace gradcoll
