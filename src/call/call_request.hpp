// call/call_request.hpp - the request of MPI by which a program completes a nonblocking
// operation: a generalized request, or a self message where MPI has no good ones
// (docs/decisions/003).
#pragma once

#include <atomic>
#include <memory>

#include "comm/self_message.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// CallRequest is made and completed by threads that may call MPI.
class CallRequest {
  public:
    /// Makes the request. `name` is the call's, a static text. Errors: transport.
    static Result<CallRequest> make(std::shared_ptr<CommContext> context, const char* name,
                                    MPI_Request* request);
    /// Completes the request; called once. After that the request, and what it knows, belongs to
    /// whoever waits for it.
    void complete(const Status& status);

  private:
    /// Ending is what the caller's thread reads when it completes the request; MPI frees it with
    /// the request.
    struct Ending {
        Status status;
        const char* name = "";
        /// It is set last, and read first by the caller's thread, which then sees the status and
        /// the values whatever the MPI library does to hand memory from one thread to the other.
        std::atomic<bool> is_set{false};
    };
    static int query(void* state, MPI_Status* status);
    static int free_ending(void* state);
    static int cancel(void* state, int complete);

    std::shared_ptr<CommContext> context_;
    const char* name_ = "";
    /// It is null where there is a self message; else the generalized request owns it.
    Ending* ending_ = nullptr;
    SelfMessage message_;  ///< for a request that is not a generalized one
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace gradcoll
