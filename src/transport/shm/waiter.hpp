// transport/shm/waiter.hpp - words in shared memory that one rank raises and others wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "transport/peer_watch.hpp"

namespace gradcoll {

/// A SharedWord is raised only by its owner, and never goes down. Waiters look at the value alone,
/// unless they sleep.
using SharedWord = std::atomic<std::uint64_t>;
static_assert(SharedWord::is_always_lock_free);

/// Sleepers counts how many ranks sleep on any word of one owner. It has a cache line of its own.
struct alignas(64) Sleepers {
    std::atomic<std::uint32_t> count{0};
};

/// Raises `word` to `value`: whoever sees it sees everything written before. Wakes those who sleep
/// on it; no system call if nobody does.
void raise(SharedWord& word, std::uint64_t value, Sleepers& sleepers);

/// Patience says how often a rank looks before it does what is easier on others: first while it
/// spins, and then while it gives its core away between looks.
struct Patience {
    int spins;
    int yields;

    friend bool operator==(const Patience&, const Patience&) = default;
};
/// This waits for about 30 us with a core of one's own, and then a millisecond if nobody else wants
/// the core.
inline constexpr Patience with_own_core{2000, 2000};
/// This is for a host with more ranks than cores: whoever is waited for may need this core.
inline constexpr Patience with_shared_core{20, 2000};
/// This is for waiting for a rank that waits for a network, which takes longer than to fall asleep
/// and wake up.
inline constexpr Patience with_network{20, 100};

/// An Awaited says, for people, what a wait for a word of a rank waits for.
class Awaited {
  public:
    Awaited() = default;
    virtual ~Awaited() = default;
    Awaited(const Awaited&) = delete;
    Awaited& operator=(const Awaited&) = delete;

    virtual std::string awaited_of(int owner) const = 0;
};

/// Waiter says how a rank waits. First it spins, which is best while the others run on cores of
/// their own; then it gives its core away between looks, which is best while ranks outnumber cores;
/// then it sleeps. Between looks it lets others go on: messages under way would stand still while
/// the rank they wait for is in here.
class Waiter {
  public:
    /// A Progress does a piece of other work and returns whether there was any.
    using Progress = bool (*)(void* context);

    /// `progress` may be null.
    Waiter(const Patience& patience, Progress progress, void* context)
        : patience_(patience), progress_(progress), context_(context) {}

    /// Sets what knows of ranks that have died, and what says what waits are for; null for nothing.
    void heed(PeerWatch* peers, const Awaited* awaited) {
        peers_ = peers;
        awaited_ = awaited;
    }
    /// Returns true when `word` is `value` or more; false if that will not be, because a rank has
    /// died. `sleepers` are those of `owner`, whose word it is.
    [[nodiscard]] bool wait(const SharedWord& word, std::uint64_t value, Sleepers& sleepers,
                            int owner) const {
        return word.load(std::memory_order_acquire) >= value ||
               wait_longer(word, value, sleepers, owner);
    }

  private:
    bool wait_longer(const SharedWord& word, std::uint64_t value, Sleepers& sleepers,
                     int owner) const;
    bool spin(const SharedWord& word, std::uint64_t value) const;
    bool yield(const SharedWord& word, std::uint64_t value) const;
    bool sleep(const SharedWord& word, std::uint64_t value, Sleepers& sleepers, int owner) const;
    bool go_on() const { return progress_ != nullptr && progress_(context_); }

    Patience patience_;
    Progress progress_;
    void* context_;
    PeerWatch* peers_ = nullptr;
    const Awaited* awaited_ = nullptr;
};

}  // namespace gradcoll
