#include "call/progress_thread.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "attach/wait_meeting.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/mpi/mpi.hpp"
#include "mpi/boundary.hpp"
#include "mpi/lifetime.hpp"

namespace gradcoll {
namespace {

/// This is the time when a thread of the program last began an operation or, while it waited, made
/// progress.
std::atomic<std::uint64_t> program_progress_ns{0};
/// After this time without progress the program may be doing something else.
constexpr std::uint64_t program_may_pause_ns = 100'000;

/// Waiting threads give their core away soon if it is set.
std::atomic<bool> ranks_yield{false};

void note_program_progress() {
    program_progress_ns.store(now_ns(), std::memory_order_relaxed);
}

/// Naps waits between two looks of the thread. At first it only gives the core away. A program that
/// spins in MPI on the same core would then have it for milliseconds, so it soon sleeps: a thread
/// that wakes up goes first.
class Naps {
  public:
    void had_work() { idle_since_ns_ = 0; }
    void take() {
        const std::uint64_t now = now_ns();
        if (idle_since_ns_ == 0) {
            idle_since_ns_ = now;
            nap_ = shortest;
        }
        if (now - idle_since_ns_ < spinning_ns) {
            sched_yield();
            return;
        }
        std::this_thread::sleep_for(nap_);
        nap_ = std::min(2 * nap_, longest);
    }

  private:
    static constexpr std::uint64_t spinning_ns = 20'000;
    static constexpr std::chrono::microseconds shortest{20};
    static constexpr std::chrono::microseconds longest{1000};

    std::uint64_t idle_since_ns_ = 0;  ///< 0 if the last look found work
    std::chrono::microseconds nap_ = shortest;
};

class ProgressThread {
  public:
    /// Hands it an operation; starts the thread if it does not run.
    void give(std::shared_ptr<StartedCall> call, Giving how) {
        if (how.yields) ranks_yield.store(true, std::memory_order_relaxed);
        if (!runs_.load(std::memory_order_acquire) && !try_to_start()) return carry_out(*call);
        note_program_progress();
        add_started_call(std::move(call));
        // It says that it sleeps before it looks for the last time.
        if (!how.urgent && !sleeps_.load()) return;
        const std::scoped_lock lock(mutex_);
        wake_.notify_one();
    }

  private:
    /// Starts the thread. Returns false if the process may have no more threads, or has no memory
    /// for one.
    bool try_to_start() try {
        const Status started = start();
        if (!started.ok()) warn(started);
        return started.ok();
    } catch (...) {
        warn(status_of_current_exception());
        return false;
    }

    Status start() {
        const std::scoped_lock lock(mutex_);
        if (runs_.load(std::memory_order_relaxed)) return {};
        if (!stops_) GRADCOLL_TRY(at_finalize([this] { stop(); }));
        stops_ = true;
        int level = MPI_THREAD_SINGLE;
        PMPI_Query_thread(&level);
        mover_ = level == MPI_THREAD_MULTIPLE ? Mover::program : Mover::helper;
        thread_ = std::thread([this] { run(); });
        runs_.store(true, std::memory_order_release);
        return {};
    }

    void warn(const Status& why) {
        if (has_warned_.exchange(true)) return;
        log(LogLevel::warn,
            "no thread can be started, so that what is started is waited for at once: {}",
            why.message());
    }

    /// Carries the operation out in place of the thread.
    static void carry_out(StartedCall& call) {
        while (call.advance(Mover::program) != StartedCall::Turn::finished)
            if (!advance_started_calls()) sched_yield();
    }

    /// Stops the thread after all operations. Without MPI_THREAD_MULTIPLE only the caller may end
    /// them.
    void stop() {
        while (calls_for_mpi() > 0)
            if (!advance_started_calls()) sched_yield();
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_one();
        if (thread_.joinable()) thread_.join();
    }

    /// Waits until there are operations; returns false if there will be none. A program that has
    /// just made requests soon makes others. To wake this thread for each would take longer than
    /// short ones last, so it looks by itself for a while.
    bool wait_for_calls() {
        if (calls_for_mpi() > 0) return true;
        std::unique_lock lock(mutex_);
        const auto has_work = [this] { return stopping_ || calls_for_mpi() > 0; };
        for (int looks = 0; looks < most_looks && !has_work(); ++looks)
            wake_.wait_for(lock, std::chrono::milliseconds(1), has_work);
        sleeps_ = true;
        wake_.wait(lock, has_work);
        sleeps_ = false;
        return !stopping_;
    }

    void run() {
        Naps naps;
        while (wait_for_calls()) {
            const bool leaves_it = now_ns() - program_progress_ns.load(std::memory_order_relaxed) <
                                   program_may_pause_ns;
            if (!leaves_it && advance_started_calls(mover_))
                naps.had_work();
            else
                naps.take();
        }
    }

    static constexpr int most_looks = 100;

    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;  // guarded by mutex_
    std::atomic<bool> sleeps_{false};
    std::atomic<bool> runs_{false};  // set under mutex_
    bool stops_ = false;             // MPI_Finalize ends it; guarded by mutex_
    std::atomic<bool> has_warned_{false};
    Mover mover_ = Mover::helper;
    std::thread thread_;
};

/// Returns the thread of the process. It is never destroyed: the thread is joined in MPI_Finalize,
/// which a program that dies early does not reach.
ProgressThread& progress_thread() {
    static auto& thread = *new ProgressThread;
    return thread;
}

}  // namespace

void give_to_progress_thread(std::shared_ptr<StartedCall> call, Giving how) {
    progress_thread().give(std::move(call), how);
}

bool make_progress_for_waiting_program() noexcept try {
    constexpr unsigned rounds_a_note = 16;
    thread_local unsigned idle_rounds = 0;
    const bool others_may_come = meet_while_waiting();
    if (calls_for_mpi() == 0) return others_may_come;
    if (advance_started_calls()) {
        idle_rounds = 0;
    } else if (++idle_rounds % rounds_a_note == 0) {
        note_program_progress();
        const unsigned spins = ranks_yield.load(std::memory_order_relaxed) ? rounds_a_note : 2000;
        if (idle_rounds >= spins) sched_yield();
    }
    return others_may_come || calls_for_mpi() > 0;
} catch (...) {
    log(LogLevel::error, "{}", status_of_current_exception().message());
    return false;
}

}  // namespace gradcoll
