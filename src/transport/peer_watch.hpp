// transport/peer_watch.hpp - what a rank knows of other ranks of its communicator that have died,
// and when waits for others are in vain.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace gradcoll {

/// A PeerWatch belongs to one communicator. Once a rank is known to be dead that stays so, and the
/// communicator is of no more use. Thread safe.
class PeerWatch {
  public:
    /// Ranks that wait go on for `patience_ns` after they have taken note of a death: who has all
    /// that the dead one ever sent may still help them to the end. `what_is_left` ends the text of
    /// fault().
    explicit PeerWatch(std::uint64_t patience_ns,
                       const char* what_is_left = "the communicator can only be freed")
        : patience_ns_(patience_ns), what_is_left_(what_is_left) {}
    virtual ~PeerWatch() = default;
    PeerWatch(const PeerWatch&) = delete;
    PeerWatch& operator=(const PeerWatch&) = delete;

    /// Looks whether a rank has died. It makes system calls, and calls of MPI where this thread
    /// may; so only waits that are slow ask for it.
    virtual void look() = 0;
    /// Returns whether the rank has died, which is looked at now. Whatever it has written to shared
    /// memory is then there.
    virtual bool has_died(int rank) { return has_fault() && rank == dead_rank(); }
    /// Returns whether has_died() can answer for every other rank.
    virtual bool sees_all() const { return false; }
    /// Takes note of a death. `text` is "rank 3 has died"; `rank` is -1 if it is not known. Does
    /// nothing if that is known.
    void note(int rank, const std::string& text) { note(std::vector<int>{rank}, text); }
    /// Takes note of deaths of which one text tells.
    void note(const std::vector<int>& ranks, const std::string& text);
    /// Returns whether that rank's death was noted.
    bool knows_of(int rank) const;
    /// Returns whether some rank is known to be dead. No system call.
    bool has_fault() const { return has_fault_.load(std::memory_order_acquire); }
    /// Returns peer_died, naming the ranks, if has_fault(); else ok. `where` says what waited.
    Status fault(const std::string& where = {}) const;
    /// Returns fault() for a failure that may be no more than what others say who have noticed a
    /// death, after one more look; else the failure itself.
    Status judged(Status failure);
    /// Returns the rank whose death was noted first, the lowest one if there are several; -1 if it
    /// is not known.
    int dead_rank() const { return dead_rank_.load(std::memory_order_relaxed); }
    std::uint64_t noticed_ns() const { return noticed_ns_.load(std::memory_order_relaxed); }
    std::uint64_t patience_ns() const { return patience_ns_; }

  private:
    const std::uint64_t patience_ns_;
    const char* const what_is_left_;
    mutable std::mutex mutex_;
    std::string text_;       ///< guarded by mutex_
    std::vector<int> dead_;  ///< guarded by mutex_
    std::atomic<std::uint64_t> noticed_ns_{0};
    std::atomic<int> dead_rank_{-1};
    std::atomic<bool> has_fault_{false};
};

/// Returns what PeerWatch::judged() makes of a failure; ok, and a failure that nobody looks at
/// (`peers` is null), stay as they are.
inline Status judged(PeerWatch* peers, Status failure) {
    if (failure.ok() || peers == nullptr) return failure;
    return peers->judged(std::move(failure));
}

/// A SlowWait is what one wait for other ranks asks at its idle turns. It reads no clock until
/// there have been some, and looks for dead ranks only after milliseconds.
class SlowWait {
  public:
    /// Returns whether nothing that is waited for will come, because a rank has died. `peers` may
    /// be null: then never. Called at idle turns.
    bool is_in_vain(PeerWatch* peers) {
        return peers != nullptr && ++idle_turns_ % turns_a_look == 0 && looks(*peers);
    }
    /// Does the same for a caller whose idle turns take long. Somebody waits only if `is_wait`.
    bool is_in_vain_now(PeerWatch* peers, bool is_wait = true) {
        return peers != nullptr && looks(*peers, is_wait);
    }
    /// Says that something has come.
    void goes_on() { since_ns_ = told_since_ns_ = 0; }

  private:
    static constexpr std::uint32_t turns_a_look = 16;
    bool looks(PeerWatch& peers, bool is_wait = true);

    std::uint64_t since_ns_ = 0;  ///< since when nothing has come, about; 0: it is not known yet
    std::uint64_t told_since_ns_ = 0;  ///< since when somebody has waited meanwhile
    std::uint64_t next_look_ns_ = 0;
    std::uint32_t idle_turns_ = 0;
};

/// Has `listener` called by whoever waits for long, every few milliseconds, with the time since
/// when and the present one. There is one for the process. Thread safe.
void when_waits_are_long(void (*listener)(std::uint64_t since_ns, std::uint64_t now_ns));

}  // namespace gradcoll
