// engine/engine_watch.hpp - what an engine says of itself: figures for the report, spans for the
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "engine/gradient.hpp"
#include "runtime/trace.hpp"

namespace gradcoll {

/// Since the engine was made, on this rank.
struct EngineFigures {
    std::uint64_t sums = 0;          ///< gradients whose sums have ended, well or not
    std::uint64_t failed = 0;        ///< of those
    std::uint64_t packed = 0;        ///< of those: summed with others
    std::uint64_t packs = 0;         ///< that they were summed in
    std::uint64_t busy_ns = 0;       ///< while at least one gradient was handed in and not complete
    std::uint64_t waited_ns = 0;     ///< of that: while a thread of the program waited for one
    std::uint64_t held_ns = 0;       ///< of all sums together: from handed in to their begin ...
    std::uint64_t summed_ns = 0;     ///< ... and from there to their end
    std::uint64_t most_held = 0;     ///< at one time
    std::uint64_t most_running = 0;  ///< at one time, a pack as one
    std::uint64_t stalls = 0;        ///< that this rank has warned of
    std::uint64_t told_messages = 0;  ///< that this rank has sent to agree with others
    std::uint64_t told_bytes = 0;
};

/// Thread safe. With a trace the sum of a gradient has three spans, joined by arrows: "submit" on
/// the thread that handed it in, one from there to its begin in the rows of the coordinator, and
/// one from there to its end. Allocates for the name of each gradient that a trace has not seen.
class EngineWatch {
  public:
    /// Null: no spans. It outlives the engine.
    explicit EngineWatch(Trace* trace) : trace_(trace) {}

    /// By the calling thread, which came to hand it in at `since_ns`.
    void submitted(Gradient& gradient, std::uint64_t since_ns);
    /// Together. So many sums run now.
    void begun(std::span<Gradient* const> gradients, std::size_t running);
    void ended(std::span<Gradient* const> gradients, bool well);
    /// A thread of the program waits from now on, or does so no more.
    void wait_begins();
    void wait_ends();
    void stalled();
    void name_thread(const char* title) const;

    EngineFigures figures() const;

  private:
    void take_waited(std::uint64_t now_ns);

    Trace* trace_;
    mutable std::mutex mutex_;
    // Guarded by mutex_:
    EngineFigures figures_;
    std::size_t held_ = 0;
    std::size_t busy_ = 0;     ///< gradients that are handed in and not complete
    std::size_t waiting_ = 0;  ///< threads
    std::uint64_t busy_since_ns_ = 0;
    std::uint64_t waited_since_ns_ = 0;
};

/// While a thread of the program waits.
class WatchedWait {
  public:
    explicit WatchedWait(EngineWatch& watch) : watch_(watch) { watch_.wait_begins(); }
    ~WatchedWait() { watch_.wait_ends(); }
    WatchedWait(const WatchedWait&) = delete;
    WatchedWait& operator=(const WatchedWait&) = delete;

  private:
    EngineWatch& watch_;
};

}  // namespace gradcoll
