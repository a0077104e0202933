#include "queue.hpp"

#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "settings.hpp"

namespace gradcoll::emulated {
namespace {

/// Whether a job of a decoding was valid; true for encodings.
bool run_codec_job(const Task& task, const CodecJob& job) {
    const auto payload = static_cast<const std::byte*>(job.in);
    const std::size_t payload_bytes =
        bound_bytes(task.codec.id, element_bytes(task.codec.type), job.count);
    switch (task.work) {
        case CodecWork::encode:
            task.codec.encode(job.in, job.count, static_cast<std::byte*>(job.out));
            return true;
        case CodecWork::encode_with_residual:
            task.codec.encode_with_residual(job.in, job.residual, job.count,
                                            static_cast<std::byte*>(job.out));
            return true;
        case CodecWork::decode:
            return task.codec.decode(payload, payload_bytes, job.count, job.out);
        case CodecWork::decode_sum:
            return task.codec.decode_sum(payload, payload_bytes, job.count, job.base, job.out);
    }
    return true;
}

void run_codec(const Task& task) {
    for (const CodecJob& job : task.codec_jobs)
        if (!run_codec_job(task, job) && task.invalid != nullptr)
            std::atomic_ref(*task.invalid).store(1, std::memory_order_relaxed);
}

void reach_record(MarkState& mark, std::uint64_t ticket) {
    std::uint64_t seen = mark.reached.load();
    while (seen < ticket && !mark.reached.compare_exchange_weak(seen, ticket)) {
    }
    mark.reached.notify_all();
}

void wait_for_record(const MarkState& mark, std::uint64_t ticket) {
    for (std::uint64_t seen = mark.reached.load(); seen < ticket; seen = mark.reached.load())
        mark.reached.wait(seen);
}

}  // namespace

void run(Task& task) {
    switch (task.kind) {
        case Task::Kind::copy:
            std::memcpy(task.to, task.from, task.size_bytes);
            return;
        case Task::Kind::record:
            reach_record(*task.mark, task.ticket);
            task.mark.reset();
            return;
        case Task::Kind::wait:
            wait_for_record(*task.mark, task.ticket);
            task.mark.reset();
            return;
        case Task::Kind::codec:
            run_codec(task);
            return;
        case Task::Kind::reduce:
            for (const ReduceJob& job : task.reduce_jobs)
                task.reducer(job.a, job.b, job.out, job.count);
            return;
    }
}

Queue::Queue() : ring_(16), random_(std::random_device{}()) {
    worker_ = std::thread([this] { work(); });
}

Queue::~Queue() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        changed_.notify_all();
    }
    worker_.join();
}

void Queue::grow() {
    std::vector<Task> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i)
        larger[i] = std::move(ring_[(head_ + i) % ring_.size()]);
    ring_ = std::move(larger);
    head_ = 0;
}

void Queue::drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return count_ == 0 && !busy_; });
}

void Queue::dawdle() {
    const int most = settings().delay_us;
    if (most == 0) return;
    const auto delay = std::uniform_int_distribution<int>(0, most)(random_);
    std::this_thread::sleep_for(std::chrono::microseconds(delay));
}

void Queue::work() {
    Task task;
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return count_ > 0 || ends_; });
        if (count_ == 0) return;
        std::swap(task, ring_[head_]);  // the ring may move meanwhile; its memory stays in use
        head_ = (head_ + 1) % ring_.size();
        --count_;
        busy_ = true;
        lock.unlock();
        dawdle();
        run(task);
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

namespace {

struct LiveQueues {
    std::mutex mutex;
    std::map<void*, std::weak_ptr<Queue>> queues;
};

LiveQueues& live_queues() {
    static LiveQueues& live = *new LiveQueues;
    return live;
}

}  // namespace

std::shared_ptr<Queue> make_queue() {
    std::shared_ptr<Queue> queue = std::make_shared<Queue>();
    LiveQueues& live = live_queues();
    const std::scoped_lock lock(live.mutex);
    std::erase_if(live.queues, [](const auto& entry) { return entry.second.expired(); });
    live.queues[queue.get()] = queue;
    return queue;
}

std::shared_ptr<Queue> queue_of(void* native) {
    LiveQueues& live = live_queues();
    const std::scoped_lock lock(live.mutex);
    const auto found = live.queues.find(native);
    return found != live.queues.end() ? found->second.lock() : nullptr;
}

void drain_all_queues() {
    std::vector<std::shared_ptr<Queue>> queues;
    {
        LiveQueues& live = live_queues();
        const std::scoped_lock lock(live.mutex);
        for (const auto& [native, queue] : live.queues)
            if (auto alive = queue.lock()) queues.push_back(std::move(alive));
    }
    for (const auto& queue : queues) queue->drain();
}

}  // namespace gradcoll::emulated
