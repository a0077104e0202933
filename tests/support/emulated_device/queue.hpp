// emulated_device/queue.hpp - work that a thread does in order, later than it was asked for: what a
// stream of an emulated device is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "compress/codec.hpp"
#include "compress/coded_block.hpp"
#include "compress/device_codec.hpp"
#include "reduce/device_reduce.hpp"
#include "reduce/reducer.hpp"

namespace gradcoll::emulated {

/// MarkState is what a mark is to queues: how often it was recorded, and which record was reached.
struct MarkState {
    std::atomic<std::uint64_t> recorded{0};
    std::atomic<std::uint64_t> reached{0};
};

/// A Task is one piece of work, with all addresses as a worker sees them. It is kept and filled
/// again, so that launches that are warm allocate nothing.
struct Task {
    enum class Kind : std::uint8_t { copy, record, wait, codec, move, reduce };
    Kind kind = Kind::copy;

    void* to = nullptr;
    const void* from = nullptr;
    std::size_t size_bytes = 0;

    std::shared_ptr<MarkState> mark;
    std::uint64_t ticket = 0;

    CodecWork work = CodecWork::encode;
    Codec codec;
    std::uint32_t* invalid = nullptr;
    std::vector<CodecJob> codec_jobs;

    std::vector<BlockMove> moves;

    Reducer reducer;
    std::vector<ReduceJob> reduce_jobs;
};

/// Does a task. Blocks for a wait.
void run(Task& task);

/// A Queue has a worker and its tasks. Thread safe. It ends after the last task.
class Queue {
  public:
    Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    ~Queue();

    /// fill(Task&) sets what kind says; everything else in the task is of an older one.
    template <class Fill>
    void push(Fill fill) {
        const std::scoped_lock lock(mutex_);
        if (count_ == ring_.size()) grow();
        fill(ring_[(head_ + count_) % ring_.size()]);
        ++count_;
        changed_.notify_all();
    }
    /// Waits until everything that was pushed is done.
    void drain();

  private:
    void grow();
    void work();
    void dawdle();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Task> ring_;
    std::size_t head_ = 0, count_ = 0;
    bool busy_ = false, ends_ = false;
    std::minstd_rand random_;
    std::thread worker_;
};

/// Makes a queue of this process; a stream's native handle is its queue. Errors: out_of_memory,
/// where there is no room for a thread.
Result<std::shared_ptr<Queue>> make_queue();
/// Returns null if there is no such queue (any more).
std::shared_ptr<Queue> queue_of(void* native);
void drain_all_queues();

}  // namespace gradcoll::emulated
