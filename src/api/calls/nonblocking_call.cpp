#include "api/calls/nonblocking_call.hpp"

#include "api/calls/device_allreduce.hpp"
#include "api/calls/progress_thread.hpp"
#include "api/edge/boundary.hpp"

namespace gradcoll {

Result<std::unique_ptr<NonblockingCall>> NonblockingCall::start(Call& call, MPI_Request* request) {
    const auto placed = place_call(*call.context, call.arguments, call.shape, call.memory);
    if (!placed) return placed.status();
    CallKey key = call.route.key;
    key.in_place = is_in_place(placed->arguments);
    std::unique_ptr<NonblockingCall> started(new NonblockingCall);
    CommPlans& plans = call.context->plans();
    GRADCOLL_TRY(
        take(started->lease_, plans.begin(call.entry->kind, key, {.data_device = placed->device})));
    Binding binding = binding_of(placed->arguments, call.shape);
    binding.numbers = &plans.numbers();
    GRADCOLL_TRY(started->lease_.executor->start(binding));
    started->context_ = call.context;
    started->copy_ = std::move(call.copy);
    started->name_ = call.entry->name;
    GRADCOLL_TRY(started->make_request(started->lease_.executor->sequence()));
    *request = started->request_;
    return started;
}

Status start_nonblocking(Call& call, MPI_Request* request) {
    auto started = NonblockingCall::start(call, request);
    if (!started) return started.status();
    return give_to_progress_thread(std::move(started).value());
}

Status NonblockingCall::make_request(std::uint32_t sequence) {
    if (!mpi_waits_for_generalized_requests) {
        const auto tags = static_cast<std::uint32_t>(context_->plans().tag_limit()) + 1;
        const CommIdentity& comm = context_->identity();
        token_ = Token(comm.private_comm(), comm.rank(), static_cast<int>(sequence % tags));
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
    context_->plans().end(std::move(lease_), status);
    if (ending_ == nullptr) return token_.send({name_, user_comm_of(context_)}, status);
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
