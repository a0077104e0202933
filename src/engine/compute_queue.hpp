// engine/compute_queue.hpp - threads that run the local steps (encode, decode, add, copy) of all
// sums of an engine.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/local_step.hpp"

namespace gradcoll {

/// A ComputeQueue runs steps of higher priority first, and of equal ones those that came first. It
/// allocates only while it has more steps than ever before.
class ComputeQueue {
  public:
    struct Returned {
        LocalStep step;
        LocalResult result;
    };

    /// Starts the threads, each of which calls `begins` before all else. Without threads nothing is
    /// run.
    ComputeQueue(int threads, std::function<void()> begins);
    /// Runs what it still has.
    ~ComputeQueue();
    ComputeQueue(const ComputeQueue&) = delete;
    ComputeQueue& operator=(const ComputeQueue&) = delete;

    bool has_threads() const { return !threads_.empty(); }
    bool has_waiting() const { return waiting_count_.load(std::memory_order_relaxed) > 0; }
    void give(std::span<const LocalStep> steps, std::int32_t priority);
    /// Takes a step that no thread has begun, for whoever asks to run it; false if there is none.
    bool take(LocalStep& step);
    /// Moves what has been run since the last call to `out`, in place of what is there.
    void take_back(std::vector<Returned>& out);

    /// Returns the time that all threads together have spent in steps since it was made.
    std::uint64_t worked_ns() const { return worked_ns_.load(std::memory_order_relaxed); }
    std::size_t thread_count() const { return threads_.size(); }

  private:
    struct Waiting {
        LocalStep step;
        std::int32_t priority;
        std::uint64_t order;
    };
    static bool goes_after(const Waiting& a, const Waiting& b) {
        return a.priority != b.priority ? a.priority < b.priority : a.order > b.order;
    }
    void work();
    bool next(LocalStep& step);
    void pop(LocalStep& step);

    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Waiting> waiting_;  ///< a heap; guarded by mutex_, as are the members below
    std::vector<Returned> returned_;
    std::uint64_t given_ = 0;
    bool stopping_ = false;
    std::atomic<std::size_t> waiting_count_{0};
    std::atomic<std::uint64_t> worked_ns_{0};
    std::vector<std::thread> threads_;
};

}  // namespace gradcoll
