#include "call/call_request.hpp"

#include "mpi/boundary.hpp"

namespace gradcoll {

Result<CallRequest> CallRequest::make(std::shared_ptr<CommContext> context, const char* name,
                                      MPI_Request* request) {
    CallRequest made;
    made.name_ = name;
    if (!mpi_waits_for_generalized_requests) {
        const CommIdentity& comm = context->identity();
        made.message_ =
            SelfMessage(comm.private_comm(), comm.rank(), context->next_self_message_tag());
        GRADCOLL_TRY(made.message_.receive(request));
        made.context_ = std::move(context);
        return made;
    }
    auto ending = std::make_unique<Ending>();
    ending->name = name;
    GRADCOLL_TRY(from_mpi(PMPI_Grequest_start(query, free_ending, cancel, ending.get(), request),
                          "MPI_Grequest_start"));
    made.ending_ = ending.release();
    made.request_ = *request;
    made.context_ = std::move(context);
    return made;
}

void CallRequest::complete(const Status& status) {
    if (ending_ == nullptr) return message_.send({name_, user_comm_of(context_)}, status);
    ending_->status = status;
    ending_->is_set.store(true, std::memory_order_release);
    PMPI_Grequest_complete(request_);
}

int CallRequest::query(void* state, MPI_Status* status) {
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    const auto* ending = static_cast<const Ending*>(state);
    if (!ending->is_set.load(std::memory_order_acquire)) return MPI_SUCCESS;
    const Status& outcome = ending->status;
    if (outcome.ok()) return MPI_SUCCESS;
    // A class that was added is no code to Open MPI 4.1, which calls its class unknown.
    const int error_class = keep_error(ending->name, outcome);
    return error_class <= MPI_ERR_LASTCODE ? error_class
                                           : code_with_text(error_class, outcome.message());
}

int CallRequest::free_ending(void* state) {
    delete static_cast<Ending*>(state);
    return MPI_SUCCESS;
}

/// Does nothing, as MPI allows: what peers may already have got cannot be taken back, so the
/// operation goes on.
int CallRequest::cancel(void*, int) {
    return MPI_SUCCESS;
}

}  // namespace gradcoll
