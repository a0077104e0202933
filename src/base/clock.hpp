// base/clock.hpp - the clock that spans of time are measured with.
#pragma once

#include <cstdint>
#include <ctime>

namespace gradcoll {

/// Returns the time of one of the system's clocks.
inline std::uint64_t ns_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// Returns the time of the steady clock (what std::chrono::steady_clock reads, without that
/// header's weight).
inline std::uint64_t now_ns() {
    return ns_of(CLOCK_MONOTONIC);
}

/// Returns the time since 1970 that the system's clock tells, which people can set.
inline std::int64_t unix_now_ns() {
    return static_cast<std::int64_t>(ns_of(CLOCK_REALTIME));
}

/// Returns the CPU time of the calling thread: time in which it waited for a core does not count.
inline std::uint64_t thread_cpu_ns() {
    return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

constexpr double seconds_of(std::uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace gradcoll
