#include "engine/compute_queue.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace gradcoll {

ComputeQueue::ComputeQueue(int threads, std::function<void()> begins) {
    threads_.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i)
        threads_.emplace_back([this, begins] {
            begins();
            work();
        });
}

ComputeQueue::~ComputeQueue() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void ComputeQueue::give(std::span<const LocalStep> steps, std::int32_t priority) {
    if (steps.empty()) return;
    {
        const std::scoped_lock lock(mutex_);
        for (const LocalStep& step : steps) {
            waiting_.push_back({step, priority, given_++});
            std::push_heap(waiting_.begin(), waiting_.end(), goes_after);
        }
        waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
    }
    if (steps.size() == 1)
        wake_.notify_one();
    else
        wake_.notify_all();
}

void ComputeQueue::take_back(std::vector<Returned>& out) {
    out.clear();
    const std::scoped_lock lock(mutex_);
    std::swap(out, returned_);
}

void ComputeQueue::work() {
    for (LocalStep step; next(step);) {
        const std::uint64_t begin_ns = now_ns();
        Returned done{step, run_step(step)};
        worked_ns_.fetch_add(now_ns() - begin_ns, std::memory_order_relaxed);
        const std::scoped_lock lock(mutex_);
        returned_.push_back(std::move(done));
    }
}

bool ComputeQueue::next(LocalStep& step) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return false;
    pop(step);
    return true;
}

bool ComputeQueue::take(LocalStep& step) {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return false;
    pop(step);
    return true;
}

void ComputeQueue::pop(LocalStep& step) {
    std::pop_heap(waiting_.begin(), waiting_.end(), goes_after);
    step = waiting_.back().step;
    waiting_.pop_back();
    waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
}

}  // namespace gradcoll
