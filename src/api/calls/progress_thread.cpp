#include "api/calls/progress_thread.hpp"

#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "api/edge/boundary.hpp"
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

Result<std::unique_ptr<NonblockingCall>> NonblockingCall::start(NonblockingStart how,
                                                                MPI_Request* request) {
    std::unique_ptr<NonblockingCall> call(new NonblockingCall);
    auto lease = how.context->begin(CallKind::iallreduce, how.key, how.device);
    if (!lease) return lease.status();
    how.binding.sequence = lease->sequence;
    GRADCOLL_TRY(lease->executor->start(how.binding));
    call->lease_ = std::move(lease).value();
    call->context_ = std::move(how.context);
    call->copy_ = std::move(how.copy);
    call->name_ = how.name;
    GRADCOLL_TRY(call->make_request(how.binding.sequence));
    *request = call->request_;
    return call;
}

Status NonblockingCall::make_request(std::uint32_t sequence) {
    if (!mpi_waits_for_generalized_requests) {
        const auto tags = static_cast<std::uint32_t>(context_->tag_limit()) + 1;
        token_ =
            Token(context_->private_comm(), context_->rank(), static_cast<int>(sequence % tags));
        return token_.receive(&request_);
    }
    auto ending = std::make_unique<Ending>();
    ending->name = name_;
    GRADCOLL_TRY(from_mpi(PMPI_Grequest_start(query, free_ending, cancel, ending.get(), &request_),
                          "MPI_Grequest_start"));
    ending_ = ending.release();
    return {};
}

StartedCall::Turn NonblockingCall::advance() {
    const auto progress = lease_.executor->advance();
    if (progress.ok() && *progress != Progress::complete)
        return *progress == Progress::idle ? Turn::idle : Turn::advanced;
    finish(progress.status());
    return Turn::finished;
}

/// After the request is complete its state belongs to the thread that waits for it.
void NonblockingCall::finish(const Status& status) {
    context_->end(std::move(lease_), status);
    if (ending_ == nullptr) return token_.send({name_, context_}, status);
    ending_->status = status;
    ending_->is_set.store(true, std::memory_order_release);
    PMPI_Grequest_complete(request_);
}

int NonblockingCall::query(void* state, MPI_Status* status) {
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    const auto* ending = static_cast<const Ending*>(state);
    if (!ending->is_set.load(std::memory_order_acquire)) return MPI_SUCCESS;
    const Status& outcome = ending->status;
    return outcome.ok() ? MPI_SUCCESS : keep_error(ending->name, outcome);
}

int NonblockingCall::free_ending(void* state) {
    delete static_cast<Ending*>(state);
    return MPI_SUCCESS;
}

/// What peers may already have got cannot be taken back: the operation goes on (MPI allows a cancel
/// to do nothing).
int NonblockingCall::cancel(void*, int) {
    return MPI_SUCCESS;
}

}  // namespace gradcoll
