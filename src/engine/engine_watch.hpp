// engine/engine_watch.hpp - what an engine says of itself: figures for the report, spans for the
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "base/figures.hpp"
#include "engine/gradient.hpp"
#include "runtime/trace.hpp"

namespace gradcoll {

/// An EngineWatch is thread safe. With a trace the sum of a gradient has three spans, joined by
/// arrows: "submit" on the thread that handed it in, one from there to its begin in the rows of the
/// coordinator, and one from there to its end. Allocates for the name of each gradient that a trace
/// has not seen.
class EngineWatch {
  public:
    /// `trace` outlives it; if it is null there are no spans.
    explicit EngineWatch(Trace* trace) : trace_(trace) {}

    /// Takes note of a gradient that the calling thread, which came to do so at `since_ns`, hands
    /// in. Returns the time.
    std::uint64_t submitted(Gradient& gradient, std::uint64_t since_ns);
    /// Takes note of gradients that begin together. `running` sums run now.
    void begun(std::span<Gradient* const> gradients, std::size_t running);
    void ended(std::span<Gradient* const> gradients, bool well);
    /// Takes note that a thread of the program waits from now on; wait_ends() says that it does so
    /// no more.
    void wait_begins();
    void wait_ends();
    void stalled();
    /// Takes note that gradients are planned anew from now on.
    void planned_anew(double links_carry);
    void name_thread(const char* title) const;

    EngineFigures figures() const;

  private:
    void take_waited(std::uint64_t now_ns);

    Trace* trace_;
    mutable std::mutex mutex_;
    // These are guarded by mutex_:
    EngineFigures figures_;
    std::size_t held_ = 0;
    std::size_t busy_ = 0;     ///< gradients that are handed in and not complete
    std::size_t waiting_ = 0;  ///< how many threads wait
    std::uint64_t busy_since_ns_ = 0;
    std::uint64_t waited_since_ns_ = 0;
};

/// A WatchedWait exists while a thread of the program waits.
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
