#include "queue.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>
#include <type_traits>
#include <utility>

#include "compress/encode_block.hpp"
#include "memory.hpp"
#include "settings.hpp"

namespace gradcoll::emulated {
namespace {

/// Returns where a block's bytes are. If nothing is there it ends the program, as a real device
/// would.
template <class Pointer>
Pointer reached(Pointer memory, std::uint64_t offset_bytes, std::size_t size_bytes) {
    const auto* const at = reinterpret_cast<const std::byte*>(memory) + offset_bytes;
    const auto bytes = Memory::of_process().reach(at, size_bytes, Access::kernel);
    if (bytes.ok()) return reinterpret_cast<Pointer>(*bytes);
    std::fprintf(stderr, "emulated device: %s\n", bytes.status().message().c_str());
    std::abort();
}

/// Returns step i of an array of elements; null stays null.
template <class Pointer>
Pointer element_at(Pointer array, std::size_t i, std::size_t bytes) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
                                    const std::byte, std::byte>;
    return array == nullptr ? array : static_cast<Byte*>(array) + i * bytes;
}

/// A BlockJob has the blocks of a job of variable rate, one at a time.
class BlockJob {
  public:
    BlockJob(const Task& task, const CodecJob& job)
        : task_(task),
          job_(job),
          exact_(codec_for(CodecId::exact, task.codec.type).value()),
          elem_bytes_(element_bytes(task.codec.type)),
          most_elems_(codec_block_elems(task.codec.id, task.codec.parameters)) {}

    bool run() {
        bool valid = true;
        for (std::size_t first = 0; first < job_.count; first += most_elems_) {
            const std::size_t count = std::min(most_elems_, job_.count - first);
            CodedBlock& block = job_.blocks[first / most_elems_];
            if (encodes(task_.work))
                block = encoded(first, count);
            else
                valid &= decoded(first, count, block);
        }
        return valid;
    }

  private:
    CodedBlock encoded(std::size_t first, std::size_t count) {
        const std::size_t residual_bytes = std::max(elem_bytes_, sizeof(float));
        const std::uint64_t at = job_.blocks_at + first / most_elems_ * bound_of(most_elems_);
        auto* const out = static_cast<std::byte*>(reached(job_.out, at, bound_of(count)));
        CodedBlock block = encode_block(task_.codec,
                                        {element_at(job_.in, first, elem_bytes_),
                                         element_at(job_.residual, first, residual_bytes), count},
                                        bound_of(count), out)
                               .value();
        block.offset_bytes = at;
        return block;
    }
    bool decoded(std::size_t first, std::size_t count, const CodedBlock& block) {
        if (block.offset_bytes % 2 != 0) return false;
        const Codec& codec = block.is_plain != 0 ? exact_ : task_.codec;
        const auto* const in =
            static_cast<const std::byte*>(reached(job_.in, block.offset_bytes, block.size_bytes));
        void* const out = element_at(job_.out, first, elem_bytes_);
        if (task_.work == CodecWork::decode) return codec.decode(in, block.size_bytes, count, out);
        return codec.decode_sum(in, block.size_bytes, count,
                                element_at(job_.base, first, elem_bytes_), out);
    }
    std::size_t bound_of(std::size_t count) const {
        return bound_bytes(task_.codec.id, task_.codec.parameters, elem_bytes_, count);
    }

    const Task& task_;
    const CodecJob& job_;
    const Codec exact_;
    const std::size_t elem_bytes_, most_elems_;
};

void move_blocks(const BlockMove& move) {
    for (std::size_t i = 0; i < move.count; ++i) {
        const CodedBlock& from = move.from[i];
        CodedBlock& to = move.to[i];
        std::memcpy(reached(move.out, to.offset_bytes, from.size_bytes),
                    reached(move.in, from.offset_bytes, from.size_bytes), from.size_bytes);
        to.size_bytes = from.size_bytes;
        to.is_plain = from.is_plain;
    }
}

/// Returns whether a job of a decoding was valid; true for encodings.
bool run_codec_job(const Task& task, const CodecJob& job) {
    if (job.blocks != nullptr) return BlockJob(task, job).run();
    const auto payload = static_cast<const std::byte*>(job.in);
    const std::size_t payload_bytes = bound_bytes(task.codec.id, task.codec.parameters,
                                                  element_bytes(task.codec.type), job.count);
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
        case Task::Kind::move:
            for (const BlockMove& move : task.moves) move_blocks(move);
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

Result<std::shared_ptr<Queue>> make_queue() try {
    std::shared_ptr<Queue> queue = std::make_shared<Queue>();
    LiveQueues& live = live_queues();
    const std::scoped_lock lock(live.mutex);
    std::erase_if(live.queues, [](const auto& entry) { return entry.second.expired(); });
    live.queues[queue.get()] = queue;
    return queue;
} catch (const std::system_error& error) {
    return Status(Code::out_of_memory, error.what());
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
