#include "engine/engine_watch.hpp"

#include <algorithm>
#include <atomic>

#include "base/clock.hpp"

namespace gradcoll {
namespace {

/// Returns a number by which arrows of the trace are told apart.
std::uint32_t next_sum() {
    static std::atomic<std::uint32_t> next{1};
    return next++;
}

}  // namespace

std::uint64_t EngineWatch::submitted(Gradient& gradient, std::uint64_t since_ns) {
    const std::uint64_t now = now_ns();
    GradientTimes& times = gradient.times_;
    times = {.submitted_ns = now, .label = times.label, .sum = next_sum()};
    if (trace_ != nullptr) {
        if (times.label == 0) times.label = trace_->label(gradient.name());
        trace_->add(
            {.name = "submit", .begin_ns = since_ns, .end_ns = now, .operation = times.sum});
    }
    const std::scoped_lock lock(mutex_);
    if (busy_++ == 0) busy_since_ns_ = now;
    figures_.most_held = std::max<std::uint64_t>(figures_.most_held, ++held_);
    return now;
}

void EngineWatch::begun(std::span<Gradient* const> gradients, std::size_t running) {
    const std::uint64_t now = now_ns();
    const std::scoped_lock lock(mutex_);
    for (Gradient* gradient : gradients) {
        GradientTimes& times = gradient->times_;
        times.begun_ns = now;
        figures_.held_ns += now - times.submitted_ns;
        if (trace_ != nullptr)
            trace_->add_overlapping({.name = "coordinator",
                                     .begin_ns = times.submitted_ns,
                                     .end_ns = now,
                                     .operation = times.sum,
                                     .label = times.label});
    }
    held_ -= gradients.size();
    figures_.most_running = std::max<std::uint64_t>(figures_.most_running, running);
}

void EngineWatch::ended(std::span<Gradient* const> gradients, bool well) {
    if (gradients.empty()) return;
    const std::uint64_t now = now_ns();
    const std::scoped_lock lock(mutex_);
    figures_.sums += gradients.size();
    if (!well) {
        figures_.failed += gradients.size();
    } else if (gradients.size() > 1) {
        ++figures_.packs;
        figures_.packed += gradients.size();
        for (const Gradient* gradient : gradients) figures_.packed_bytes += gradient->bytes_;
    }
    for (const Gradient* gradient : gradients) {
        const GradientTimes& times = gradient->times_;
        if (times.begun_ns == 0) {
            --held_;
            continue;
        }
        figures_.summed_ns += now - times.begun_ns;
        if (trace_ != nullptr)
            trace_->add_overlapping({.name = "gradient",
                                     .begin_ns = times.begun_ns,
                                     .end_ns = now,
                                     .operation = times.sum,
                                     .label = times.label});
    }
    busy_ -= gradients.size();
    if (busy_ > 0) return;
    figures_.busy_ns += now - busy_since_ns_;
    if (waiting_ > 0) take_waited(now);
}

void EngineWatch::take_waited(std::uint64_t now_ns) {
    figures_.waited_ns += now_ns - std::max(waited_since_ns_, busy_since_ns_);
    waited_since_ns_ = now_ns;
}

void EngineWatch::wait_begins() {
    const std::scoped_lock lock(mutex_);
    if (waiting_++ == 0) waited_since_ns_ = now_ns();
}

void EngineWatch::wait_ends() {
    const std::scoped_lock lock(mutex_);
    if (--waiting_ == 0 && busy_ > 0) take_waited(now_ns());
}

void EngineWatch::stalled() {
    const std::scoped_lock lock(mutex_);
    ++figures_.stalls;
}

void EngineWatch::planned_anew(double links_carry) {
    const std::scoped_lock lock(mutex_);
    ++figures_.planned_anew;
    figures_.links_carry = links_carry;
}

void EngineWatch::name_thread(const char* title) const {
    if (trace_ != nullptr) trace_->name_this_thread(title);
}

EngineFigures EngineWatch::figures() const {
    const std::scoped_lock lock(mutex_);
    return figures_;
}

}  // namespace gradcoll
