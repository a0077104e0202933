// transport/peer_watch.hpp - what a rank knows of other ranks of its communicator that have died,
// and when waits for others are in vain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
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

    /// Sets what people call the communicator, and its ranks in their job if these are known,
    /// before anybody waits.
    void be_called(std::string comm, std::vector<int> in_job) {
        comm_name_ = std::move(comm);
        in_job_ = std::move(in_job);
    }
    const std::string& comm_name() const { return comm_name_; }
    /// Returns what a rank is called in its job.
    int in_job(int rank) const {
        const auto at = static_cast<std::size_t>(rank);
        return at < in_job_.size() ? in_job_[at] : rank;
    }

  private:
    const std::uint64_t patience_ns_;
    const char* const what_is_left_;
    std::string comm_name_;
    std::vector<int> in_job_;
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

/// A WaitPlace is one of a few places for what long waits of a process tell, at first none of them.
class WaitPlace {
  public:
    /// All places have numbers below this.
    static constexpr int count = 8;

    WaitPlace() = default;
    WaitPlace(WaitPlace&& other) noexcept : number_(std::exchange(other.number_, none)) {}
    WaitPlace& operator=(WaitPlace&& other) noexcept {
        if (is_taken()) leave();
        number_ = std::exchange(other.number_, none);
        return *this;
    }
    ~WaitPlace() {
        if (is_taken()) leave();
    }
    /// Takes a place that is free, unless this is one. Returns whether it is one then.
    bool take();
    bool is_taken() const { return number_ != none; }
    int number() const { return number_; }
    /// Gives the place back, and says that nobody waits there.
    void leave() noexcept;

  private:
    static constexpr int none = -1;
    int number_ = none;
};

/// A WaitText returns what is waited for, for people: "for rank 2 in the memory of its host".
using WaitText = std::function<std::string()>;

/// A SlowWait is what one wait for other ranks asks at its idle turns. It reads no clock until
/// there have been some, and looks for dead ranks only after milliseconds.
class SlowWait {
  public:
    /// Returns whether nothing that is waited for will come, because a rank has died. `peers` may
    /// be null: then never. `what` is a WaitText, which is asked only where somebody wants to know.
    /// Called at idle turns.
    template <class What>
    bool is_in_vain(PeerWatch* peers, const What& what) {
        return peers != nullptr && ++idle_turns_ % turns_a_look == 0 &&
               looks(peers, WaitText(std::cref(what)));
    }
    /// Does the same for a caller whose idle turns take long. Without a text nobody waits.
    template <class What>
    bool is_in_vain_now(PeerWatch* peers, const What& what) {
        return peers != nullptr && looks(peers, WaitText(std::cref(what)));
    }
    bool is_in_vain_now(PeerWatch* peers, std::nullptr_t) {
        return peers != nullptr && looks(peers, nullptr);
    }
    /// Says that this waits for what comes, whoever dies.
    template <class What>
    void tells(const What& what) {
        if (++idle_turns_ % turns_a_look == 0) looks(nullptr, WaitText(std::cref(what)));
    }
    /// Says that something has come.
    void goes_on() {
        since_ns_ = told_since_ns_ = 0;
        if (place_.is_taken()) place_.leave();
    }

  private:
    static constexpr std::uint32_t turns_a_look = 16;
    bool looks(PeerWatch* peers, const WaitText& what);
    void tell(const PeerWatch* peers, std::uint64_t now_ns, const WaitText& what);

    std::uint64_t since_ns_ = 0;  ///< since when nothing has come, about; 0: it is not known yet
    std::uint64_t told_since_ns_ = 0;  ///< since when somebody has waited meanwhile
    std::uint64_t next_look_ns_ = 0;
    std::uint32_t idle_turns_ = 0;
    WaitPlace place_;  ///< where others see what is waited for
};

/// A WaitListener is told of a long wait, by its place, every few milliseconds: since when it
/// waits, at which time, and for what; and with 0 and an empty text that nobody waits there any
/// more.
using WaitListener = void (*)(int place, std::uint64_t since_ns, std::uint64_t now_ns,
                              const std::string& what);
/// Sets the listener of the process; null for none. Thread safe.
void when_waits_are_long(WaitListener listener);

}  // namespace gradcoll
