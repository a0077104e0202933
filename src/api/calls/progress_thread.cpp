#include "api/calls/progress_thread.hpp"

#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "api/edge/lifetime.hpp"

namespace gradcoll {
namespace {

using Calls = std::vector<std::shared_ptr<StartedCall>>;

class ProgressThread {
  public:
    /// Starts the thread if it does not run.
    Status give(std::shared_ptr<StartedCall> call) {
        const std::scoped_lock lock(mutex_);
        if (!thread_.joinable()) {
            GRADCOLL_TRY(at_finalize([this] { stop(); }));
            thread_ = std::thread([this] { run(); });
        }
        given_.push_back(std::move(call));
        wake_.notify_one();
        return {};
    }

  private:
    void stop() {
        {
            const std::scoped_lock lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

    /// False: nothing is left to do, ever.
    bool take_given(Calls& calls) {
        std::unique_lock lock(mutex_);
        if (calls.empty()) wake_.wait(lock, [this] { return stopping_ || !given_.empty(); });
        for (auto& call : given_) calls.push_back(std::move(call));
        given_.clear();
        return !calls.empty();
    }

    void run() {
        Calls calls;
        while (take_given(calls)) {
            bool advanced = false;
            std::erase_if(calls, [&advanced](const auto& call) {
                const StartedCall::Turn turn = call->advance();
                advanced = advanced || turn != StartedCall::Turn::idle;
                return turn == StartedCall::Turn::finished;
            });
            if (!advanced) sched_yield();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    Calls given_;            // guarded by mutex_
    bool stopping_ = false;  // guarded by mutex_
    std::thread thread_;     // started under mutex_
};

/// Never destroyed: the thread is joined in MPI_Finalize, which a program that dies early does not
/// reach.
ProgressThread& progress_thread() {
    static auto& thread = *new ProgressThread;
    return thread;
}

}  // namespace

Status give_to_progress_thread(std::shared_ptr<StartedCall> call) {
    return progress_thread().give(std::move(call));
}

}  // namespace gradcoll
