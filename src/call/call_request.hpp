// call/call_request.hpp - the request of MPI by which a program completes a nonblocking
// operation: a generalized request, or a token where MPI has no good ones (docs/decisions/003).
#pragma once

#include <atomic>
#include <memory>

#include "comm/token.hpp"
#include "ways/comm_context.hpp"

namespace gradcoll {

/// Made and completed by threads that may call MPI.
class CallRequest {
  public:
    /// `name`: of the call, static text. Errors: transport.
    static Result<CallRequest> make(std::shared_ptr<CommContext> context, const char* name,
                                    MPI_Request* request);
    /// Once. After that the request, and what it knows, belongs to whoever waits for it.
    void complete(const Status& status);

  private:
    /// What the caller's thread reads when it completes the request; MPI frees it with the request.
    struct Ending {
        Status status;
        const char* name = "";
        /// Set last, read first by the caller's thread: it then sees the status and the values
        /// whatever the MPI library does to hand memory from one thread to the other.
        std::atomic<bool> is_set{false};
    };
    static int query(void* state, MPI_Status* status);
    static int free_ending(void* state);
    static int cancel(void* state, int complete);

    std::shared_ptr<CommContext> context_;
    const char* name_ = "";
    Ending* ending_ = nullptr;  ///< of a generalized request, which owns it
    Token token_;               ///< of another request
    MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace gradcoll
