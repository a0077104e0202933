// engine/engine_waits.cpp - how threads of the program wait for sums, and how turns rest while
// nothing goes on.
#include <sched.h>

#include <chrono>

#include "base/clock.hpp"
#include "engine/engine.hpp"

namespace gradcoll {
namespace {

/// An idle thread gives its core away after this many turns, and sleeps between looks after more.
constexpr int turns_before_yield = 50;
constexpr int turns_before_sleep = 500;
constexpr std::chrono::microseconds look_again{50};
/// A thread sleeps at most this long if nothing was handed in here: it listens to others (rank 0),
/// and looks for stalls.
constexpr std::chrono::milliseconds look_for_others{100};

}  // namespace

void Engine::look_after() {
    if (!options_.own_thread) turn();
}

/// Lets others be told of all that was handed in.
void Engine::tell_now() {
    {
        const std::scoped_lock lock(mutex_);
        if (submitted_.empty()) return;
        is_waited_for_ = true;
    }
    submitted_now_.notify_all();
}

void Engine::wait(const Gradient& gradient) {
    if (gradient.is_complete()) return;
    tell_now();
    const WatchedWait waits(watch_);
    for (int i = 0; i < turns_before_yield && !gradient.is_complete(); ++i) look_after();
    while (!gradient.is_complete()) {
        if (options_.own_thread) {
            std::unique_lock lock(mutex_);
            completed_now_.wait(lock, [&] { return gradient.is_complete(); });
        } else if (!turn()) {
            sched_yield();
        }
    }
}

void Engine::flush() {
    std::vector<const Gradient*> pending;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [name, gradient] : gradients_)
            if (gradient->is_busy()) pending.push_back(gradient.get());
    }
    for (const Gradient* gradient : pending)
        if (gradient->is_busy()) wait(*gradient);
}

void Engine::settle() {
    const std::uint64_t begin_ns = now_ns();
    const auto is_settled = [&] {
        const std::scoped_lock lock(turn_mutex_);
        return (negotiation_->is_settled() && has_voted()) ||
               (!failure().ok() && now_ns() - begin_ns > failure_patience_ns());
    };
    while (!is_settled())
        if (!turn()) sched_yield();
}

void Engine::retire(const Status& why) {
    {
        const std::scoped_lock lock(turn_mutex_);
        if (failure().ok()) fail(why);
    }
    flush();
    const auto is_at_rest = [&] {
        const std::scoped_lock lock(turn_mutex_);
        return is_over(now_ns());
    };
    while (!is_at_rest())
        if (!turn()) sched_yield();
}

EngineFigures Engine::figures() {
    EngineFigures figures = watch_.figures();
    const std::scoped_lock lock(turn_mutex_);
    figures.told_messages = negotiation_->messages_sent();
    figures.told_bytes = negotiation_->bytes_sent();
    return figures;
}

/// Sleeps if all that is under way was only handed in, and nobody told of it: until a thread waits,
/// or something is handed in, or some time has passed. Returns false if there is something else.
bool Engine::rest_before_telling() {
    std::unique_lock lock(mutex_);
    if (under_way() > submitted_.size()) return false;
    if (submitted_.empty())
        submitted_now_.wait_for(lock, look_for_others,
                                [this] { return stopping_ || !submitted_.empty(); });
    else
        submitted_now_.wait_for(lock, std::chrono::nanoseconds(options_.settling_ns),
                                [this] { return stopping_ || is_waited_for_; });
    return true;
}

void Engine::rest(Idle& idle) {
    const std::uint64_t now = now_ns();
    if (++idle.turns == 1) idle.since_ns = now;
    if (rest_before_telling()) {
        idle = {};
    } else if (options_.most_pause.count() > 0) {
        std::this_thread::sleep_for(
            std::clamp<std::chrono::nanoseconds>(std::chrono::nanoseconds(now - idle.since_ns),
                                                 options_.least_pause, options_.most_pause));
    } else if (idle.turns > turns_before_sleep) {
        std::this_thread::sleep_for(look_again);
    } else if (options_.yields || idle.turns > turns_before_yield) {
        sched_yield();
    }
}

}  // namespace gradcoll
