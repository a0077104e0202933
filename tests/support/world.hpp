// tests/support/world.hpp - all ranks of a collective in one process: runs their plans on real
// numbers, step by step in a random order that respects only the dependencies, and with messages
// that arrive at random times.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/plan/hazards.hpp"
#include "collectives/plan/plan.hpp"
#include "compress/frame.hpp"

namespace gradcoll::testing {

/// HeadCodec stands in for a codec, with its sizes but without its work: it keeps the first values
/// of every block that fit into the encoded bytes, and drops the others. Like the real ones it
/// gives the same bytes wherever blocks are cut.
template <class T>
struct HeadCodec {
    static std::int64_t kept_of_block(CodecId codec, std::int64_t count) {
        const std::size_t bytes = bound_bytes(codec, sizeof(T), static_cast<std::size_t>(count));
        return std::min<std::int64_t>(count, static_cast<std::int64_t>(bytes / sizeof(T)));
    }
    /// Calls visit(first element, kept, offset in the encoding) block by block.
    template <class Visit>
    static void blocks(CodecId codec, std::int64_t count, Visit visit) {
        const std::int64_t block = codec == CodecId::exact ? count : lossy_block_elems;
        for (std::int64_t first = 0; first < count; first += block) {
            const std::size_t offset =
                bound_bytes(codec, sizeof(T), static_cast<std::size_t>(first));
            visit(first, kept_of_block(codec, std::min(block, count - first)), offset);
        }
    }
    static void encode(CodecId codec, const T* in, std::int64_t count, std::byte* out) {
        std::memset(out, 0, bound_bytes(codec, sizeof(T), static_cast<std::size_t>(count)));
        blocks(codec, count, [&](std::int64_t first, std::int64_t kept, std::size_t offset) {
            std::memcpy(out + offset, in + first, static_cast<std::size_t>(kept) * sizeof(T));
        });
    }
    static void decode(CodecId codec, const std::byte* in, std::int64_t count, T* out) {
        std::fill(out, out + count, T{});
        blocks(codec, count, [&](std::int64_t first, std::int64_t kept, std::size_t offset) {
            std::memcpy(out + first, in + offset, static_cast<std::size_t>(kept) * sizeof(T));
        });
    }
};

/// A World is one collective call by all ranks. In-place calls take their input from `outputs`.
template <class T>
class World {
  public:
    std::vector<std::vector<T>> inputs;
    std::vector<std::vector<T>> outputs;
    std::vector<std::vector<T>> residuals;

    explicit World(std::vector<Plan> plans) : plans_(std::move(plans)) {
        for (const Plan& plan : plans_)
            residuals.emplace_back(static_cast<std::size_t>(plan.residual_elems()), T{});
    }

    const std::vector<Plan>& plans() const { return plans_; }

    /// Runs to the end. Returns what went wrong ("" if nothing): deadlock, messages that do not
    /// fit.
    std::string run(std::uint64_t seed) {
        random_.seed(seed);
        error_.clear();
        make_tasks();
        std::size_t left = tasks_.size();
        while (left > 0 && error_.empty()) {
            std::shuffle(ready_.begin(), ready_.end(), random_);
            const std::vector<std::size_t> now = std::move(ready_);
            ready_.clear();
            std::size_t advanced = 0;
            for (std::size_t id : now) {
                const Outcome outcome = turn(tasks_[id]);
                if (outcome == Outcome::done) {
                    --left;
                    release(id);
                } else {
                    ready_.push_back(id);
                }
                if (outcome != Outcome::waits) ++advanced;
            }
            if (advanced == 0 && error_.empty()) error_ = stuck();
        }
        return error_;
    }

  private:
    enum class Outcome { waits, started, done };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct Channel {
        std::size_t sender = none, receiver = none;
        bool delivered = false;
    };
    struct Task {
        int rank = 0;
        std::int64_t chunk = 0;
        std::uint32_t index = 0;
        std::uint32_t waits_for = 0;
        Channel* channel = nullptr;  ///< channel of a message that has started
        std::size_t residual_at = 0;
        std::vector<std::size_t> followers;
    };
    using Key = std::tuple<int, int, std::int64_t, int>;  ///< from, to, chunk, stage

    const Schedule& schedule(const Task& task) const { return plan(task).schedule_of(task.chunk); }
    const Plan& plan(const Task& task) const { return plans_[static_cast<std::size_t>(task.rank)]; }
    const Step& step(const Task& task) const { return schedule(task).steps[task.index]; }

    void make_tasks() {
        tasks_.clear();
        ready_.clear();
        channels_.clear();
        scratch_.assign(plans_.size(), {});
        for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
            std::size_t residual_at = 0;
            for (std::int64_t chunk = 0; chunk < plans_[rank].chunk_count; ++chunk)
                add_chunk(static_cast<int>(rank), chunk, residual_at);
        }
        for (std::size_t id = 0; id < tasks_.size(); ++id)
            if (tasks_[id].waits_for == 0) ready_.push_back(id);
    }

    void add_chunk(int rank, std::int64_t chunk, std::size_t& residual_at) {
        const Plan& of_rank = plans_[static_cast<std::size_t>(rank)];
        const Schedule& steps = of_rank.schedule_of(chunk);
        scratch_[static_cast<std::size_t>(rank)].emplace_back(steps.scratch_bytes, std::byte{0x7f});
        const std::size_t first = tasks_.size();
        for (std::uint32_t i = 0; i < steps.steps.size(); ++i) {
            const Step& step = steps.steps[i];
            Task task;
            task.rank = rank;
            task.chunk = chunk;
            task.index = i;
            task.waits_for = step.dep_count;
            task.residual_at = residual_at;
            if (step.kind == StepKind::encode && of_rank.spec.feedback)
                residual_at += static_cast<std::size_t>(step.range.size());
            tasks_.push_back(std::move(task));
            for (std::uint32_t d = 0; d < step.dep_count; ++d)
                tasks_[first + steps.deps[step.first_dep + d]].followers.push_back(first + i);
        }
    }

    void release(std::size_t id) {
        for (std::size_t follower : tasks_[id].followers)
            if (--tasks_[follower].waits_for == 0) ready_.push_back(follower);
    }

    Outcome turn(Task& task) {
        const Step& s = step(task);
        if (s.kind == StepKind::send || s.kind == StepKind::recv) return turn_message(task, s);
        if (random_() % 4 == 0) return Outcome::started;  // dawdles
        run_local(task, s);
        return Outcome::done;
    }

    /// A send reads its data when the message is taken, which is any time after both sides have
    /// started; a receive's memory is garbage from its start to its end.
    Outcome turn_message(Task& task, const Step& s) {
        const bool sends = s.kind == StepKind::send;
        if (task.channel == nullptr) {
            open(task, s, sends);
            return Outcome::started;
        }
        Channel& channel = *task.channel;
        if (channel.delivered) return Outcome::done;
        if (channel.sender == none || channel.receiver == none) return Outcome::waits;
        if (random_() % 2 == 0) return Outcome::started;
        deliver(tasks_[channel.sender], tasks_[channel.receiver]);
        channel.delivered = true;
        return Outcome::done;
    }

    void open(Task& task, const Step& s, bool sends) {
        const Key key{sends ? task.rank : s.peer, sends ? s.peer : task.rank, task.chunk, s.stage};
        task.channel = &channels_[key];
        std::size_t& end = sends ? task.channel->sender : task.channel->receiver;
        if (end != none) error_ = "two messages with one key: " + describe(task);
        end = static_cast<std::size_t>(&task - tasks_.data());
        if (!sends) std::memset(memory(task, s.to, s.range), 0x7f, bytes_of(task, s));
    }

    void deliver(const Task& from, const Task& to) {
        const Step& out = step(from);
        const Step& in = step(to);
        if (bytes_of(from, out) != bytes_of(to, in) || out.codec != in.codec ||
            out.range.size() != in.range.size())
            error_ = fmt::format("{} does not fit {}", describe(from), describe(to));
        else
            std::memcpy(memory(to, in.to, in.range), memory(from, out.from, out.range),
                        bytes_of(from, out));
    }

    std::size_t bytes_of(const Task& task, const Step& s) const {
        return message_bytes(s, schedule(task), sizeof(T));
    }

    /// Returns where an element of the chunk lies in a buffer that begins with the chunk's element
    /// `first`.
    std::int64_t place_of(const Task& task, std::int64_t elem, std::int64_t first) const {
        const PlanSpec& spec = plan(task).spec;
        const std::int64_t before = task.chunk * plan(task).body.count_elems;
        if (spec.collective == Collective::allreduce) return before + elem - first;
        const auto ranks = static_cast<std::int64_t>(plans_.size());
        const std::int64_t part = schedule(task).count_elems / ranks;
        return (elem / part - first / part) * (spec.count_elems / ranks) + before / ranks +
               elem % part;
    }

    std::byte* memory(const Task& task, Slot slot, Range range) {
        const auto rank = static_cast<std::size_t>(task.rank);
        const Schedule& of = schedule(task);
        std::byte* scratch = scratch_[rank][static_cast<std::size_t>(task.chunk)].data();
        T* input = plan(task).spec.in_place ? outputs[rank].data() : inputs[rank].data();
        switch (slot.where()) {
            case Space::input:
                return bytes(input + place_of(task, range.begin, of.input_first_elem));
            case Space::output:
                return bytes(outputs[rank].data() +
                             place_of(task, range.begin, of.output_first_elem));
            case Space::work:
                return scratch + static_cast<std::size_t>(range.begin) * sizeof(T);
            case Space::scratch:
                return scratch + of.slots[slot.index].offset_bytes;
            case Space::none:
                break;
        }
        error_ = "no such place: " + describe(task);
        return nullptr;
    }
    static std::byte* bytes(T* values) { return reinterpret_cast<std::byte*>(values); }
    T* values(const Task& task, Slot slot, Range range) {
        return reinterpret_cast<T*>(memory(task, slot, range));
    }

    void run_local(Task& task, const Step& s) {
        const std::int64_t count = s.range.size();
        switch (s.kind) {
            case StepKind::copy: {
                const bool slots =
                    s.from.where() == Space::scratch && s.to.where() == Space::scratch;
                const std::size_t size = slots ? schedule(task).slots[s.from.index].size_bytes
                                               : static_cast<std::size_t>(count) * sizeof(T);
                std::memcpy(memory(task, s.to, s.range), memory(task, s.from, s.range), size);
                return;
            }
            case StepKind::encode:
                encode(task, s);
                return;
            case StepKind::decode:
                HeadCodec<T>::decode(s.codec, memory(task, s.from, s.range), count,
                                     values(task, s.to, s.range));
                return;
            case StepKind::decode_reduce:
            case StepKind::reduce:
                reduce(task, s);
                return;
            case StepKind::send:
            case StepKind::recv:
                return;
        }
    }

    void encode(Task& task, const Step& s) {
        const T* in = values(task, s.from, s.range);
        std::vector<T> x(in, in + s.range.size());
        std::byte* out = memory(task, s.to, s.range);
        T* residual = residuals[static_cast<std::size_t>(task.rank)].data() + task.residual_at;
        const bool feedback = plan(task).spec.feedback;
        for (std::size_t i = 0; feedback && i < x.size(); ++i) x[i] += residual[i];
        HeadCodec<T>::encode(s.codec, x.data(), s.range.size(), out);
        std::vector<T> sent(x.size());
        HeadCodec<T>::decode(s.codec, out, s.range.size(), sent.data());
        for (std::size_t i = 0; feedback && i < x.size(); ++i) residual[i] = x[i] - sent[i];
    }

    void reduce(Task& task, const Step& s) {
        const auto count = static_cast<std::size_t>(s.range.size());
        std::vector<T> other(count);
        HeadCodec<T>::decode(s.codec, memory(task, s.from, s.range), s.range.size(), other.data());
        const T* x = values(task, s.from_input ? Slot::input() : s.to, s.range);
        T* to = values(task, s.to, s.range);
        for (std::size_t i = 0; i < count; ++i) to[i] = x[i] + other[i];
    }

    std::string describe(const Task& task) const {
        return fmt::format("rank {} chunk {} step {}", task.rank, task.chunk, task.index);
    }
    std::string stuck() const {
        std::string text = "deadlock:";
        for (std::size_t id : ready_) text += " [" + describe(tasks_[id]) + "]";
        return text;
    }

    std::vector<Plan> plans_;
    std::mt19937_64 random_;
    std::string error_;
    std::vector<Task> tasks_;
    std::vector<std::size_t> ready_;
    std::map<Key, Channel> channels_;
    std::vector<std::vector<std::vector<std::byte>>>
        scratch_;  ///< one per rank, then one per chunk
};

}  // namespace gradcoll::testing
