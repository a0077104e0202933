// A scheduler of local steps from outside: threads that run the steps of any number of executors,
// and what an owner's thread does meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/executor.hpp"

namespace gradcoll {

class StepPool {
  public:
    struct Returned {
        LocalStep step;
        LocalResult result;
    };

    explicit StepPool(int threads) {
        for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
    }
    /// Runs what it still has.
    ~StepPool() {
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    StepPool(const StepPool&) = delete;
    StepPool& operator=(const StepPool&) = delete;

    void give(std::span<const LocalStep> steps) {
        {
            const std::scoped_lock lock(mutex_);
            waiting_.insert(waiting_.end(), steps.begin(), steps.end());
        }
        wake_.notify_all();
    }
    /// Returns what has been run for one executor since the last call.
    std::vector<Returned> returned_to(const Executor& executor) {
        const std::scoped_lock lock(mutex_);
        return std::exchange(returned_[&executor], {});
    }

  private:
    void work() {
        for (LocalStep step; next(step);) {
            Returned done{step, run_step(step)};
            const std::scoped_lock lock(mutex_);
            returned_[step.executor].push_back(std::move(done));
        }
    }
    bool next(LocalStep& step) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (waiting_.empty()) return false;
        step = waiting_.back();  // the newest: an order that no executor would choose
        waiting_.pop_back();
        return true;
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<LocalStep> waiting_;
    std::map<const Executor*, std::vector<Returned>> returned_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

/// Does the owner's part of one turn: messages, steps out, steps back.
inline Result<Progress> turn_with(Executor& executor, StepPool& pool) {
    const Result<Progress> progress = executor.advance_messages();
    if (!progress.ok() || *progress == Progress::complete) return progress;
    std::array<LocalStep, 8> steps;
    pool.give(std::span(steps).first(executor.take_local(steps)));
    for (StepPool::Returned& back : pool.returned_to(executor))
        GRADCOLL_TRY(executor.finish_local(back.step, std::move(back.result)));
    return progress;
}

/// Waits until it is complete, with a watchdog.
inline Status finish_with(Executor& executor, StepPool& pool) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
        const Result<Progress> progress = turn_with(executor, pool);
        if (!progress.ok()) return progress.status();
        if (*progress == Progress::complete) return {};
        if (*progress == Progress::idle) std::this_thread::yield();
    }
    ADD_FAILURE() << "rank " << executor.plan().rank << " hangs";
    return Status(Code::internal, "hang");
}

}  // namespace gradcoll
