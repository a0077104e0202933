// mover/execution/paced_copy.cpp - see paced_copy.hpp.
#include "mover/execution/paced_copy.hpp"

#include <cstring>

#include "base/clock.hpp"

namespace gradcoll::mover {
namespace {

constexpr std::int64_t piece_bytes = 1 << 20;

void sleep_until(std::uint64_t ns) {
    const timespec until{static_cast<time_t>(ns / 1'000'000'000),
                         static_cast<long>(ns % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
}

}  // namespace

Tick paced_copy(std::byte* to, const std::byte* from, std::int64_t bytes, const Lane& lane) {
    const std::uint64_t begin = now_ns();
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t piece = std::min(piece_bytes, bytes - done);
        std::memcpy(to + done, from + done, static_cast<std::size_t>(piece));
        done += piece;
        const std::uint64_t due = begin + static_cast<std::uint64_t>(lane.ticks(done));
        if (now_ns() < due) sleep_until(due);
    }
    if (bytes == 0) sleep_until(begin + static_cast<std::uint64_t>(lane.ticks(0)));
    return static_cast<Tick>(now_ns() - begin);
}

}  // namespace gradcoll::mover
