// transport/shm/waiter.cpp - spin, yield, sleep.
#include "transport/shm/waiter.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <ctime>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

constexpr int yields_between_progress = 8;
constexpr std::uint64_t longest_yielding_ns = 5'000'000;
/// Sleeps are short, since messages of the MPI library make no progress meanwhile.
constexpr long shortest_sleep_ns = 50'000;
constexpr long longest_sleep_ns = 1'000'000;

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

bool reached(const SharedWord& word, std::uint64_t value) {
    return word.load(std::memory_order_acquire) >= value;
}

/// Returns the half of a word that counts; a futex has 32 bits.
const std::uint32_t* futex_of(const SharedWord& word) {
    const auto* halves = reinterpret_cast<const std::uint32_t*>(&word);
    return halves + (std::endian::native == std::endian::little ? 0 : 1);
}

}  // namespace

void raise(SharedWord& word, std::uint64_t value, Sleepers& sleepers) {
    // There is no fence, which would wait here until the other core has let go of the line. So a
    // rank that falls asleep at this very moment may be overlooked; its sleeps are short.
    word.store(value, std::memory_order_release);
    if (sleepers.count.load(std::memory_order_relaxed) > 0)
        syscall(SYS_futex, futex_of(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Waiter::spin(const SharedWord& word, std::uint64_t value) const {
    for (int i = 0; i < patience_.spins; ++i) {
        if (reached(word, value)) return true;
        relax();
    }
    return false;
}

/// Returns after a while, too: where others have work for the core, each turn is as long as theirs,
/// and only a wait that sleeps looks for ranks that have died.
bool Waiter::yield(const SharedWord& word, std::uint64_t value) const {
    std::uint64_t end_ns = 0;
    for (int i = 0; i < patience_.yields; ++i) {
        if (reached(word, value)) return true;
        sched_yield();
        if (i % yields_between_progress != yields_between_progress - 1) continue;
        go_on();
        const std::uint64_t now = now_ns();
        if (end_ns == 0) end_ns = now + longest_yielding_ns;
        if (now >= end_ns) return false;
    }
    return false;
}

bool Waiter::sleep(const SharedWord& word, std::uint64_t value, Sleepers& sleepers,
                   int owner) const {
    timespec patience{0, shortest_sleep_ns};
    SlowWait slow;
    const auto what = [&] { return awaited_ ? awaited_->awaited_of(owner) : std::string(); };
    while (!reached(word, value)) {
        const bool went_on = go_on();
        if (slow.is_in_vain_now(peers_, what)) return reached(word, value);
        if (went_on) {
            patience.tv_nsec = shortest_sleep_ns;
            continue;
        }
        sleepers.count.fetch_add(1, std::memory_order_seq_cst);
        const std::uint64_t seen = word.load(std::memory_order_seq_cst);
        if (seen < value)
            syscall(SYS_futex, futex_of(word), FUTEX_WAIT, static_cast<std::uint32_t>(seen),
                    &patience, nullptr, 0);
        sleepers.count.fetch_sub(1, std::memory_order_seq_cst);
        patience.tv_nsec = std::min(2 * patience.tv_nsec, longest_sleep_ns);
    }
    return true;
}

bool Waiter::wait_longer(const SharedWord& word, std::uint64_t value, Sleepers& sleepers,
                         int owner) const {
    return spin(word, value) || yield(word, value) || sleep(word, value, sleepers, owner);
}

}  // namespace gradcoll
