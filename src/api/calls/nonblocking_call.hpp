// api/calls/nonblocking_call.hpp - an operation on the tree that a program completes through a
// request of MPI.
#pragma once

#include <atomic>
#include <memory>

#include "api/calls/call.hpp"
#include "api/comm/started_calls.hpp"
#include "api/comm/token.hpp"

namespace gradcoll {

/// One nonblocking operation on the tree, started, with the request that the caller waits for: a
/// generalized request, or a token where MPI has no good ones.
class NonblockingCall final : public StartedCall {
  public:
    /// Begins and starts an admitted allreduce on the calling thread, and makes the request. Takes
    /// the copy of the input. Errors: of devices, begin() and the executor; transport.
    static Result<std::unique_ptr<NonblockingCall>> start(Call& call, MPI_Request* request);

    /// Finished: counted, and the caller's request completed.
    Turn advance() override;

  private:
    /// What the caller's thread reads when it completes the request; MPI frees it with the request.
    struct Ending {
        Status status;
        const char* name = "";
        /// Set last, read first by the caller's thread: it then sees the status and the values
        /// whatever the MPI library does to hand memory from one thread to the other.
        std::atomic<bool> is_set{false};
    };
    NonblockingCall() = default;
    Status make_request(std::uint32_t sequence);
    void finish(const Status& status);
    static int query(void* state, MPI_Status* status);
    static int free_ending(void* state);
    static int cancel(void* state, int complete);

    std::shared_ptr<CommContext> context_;
    Lease lease_;
    std::unique_ptr<std::byte[]> copy_;
    const char* name_ = "";
    Ending* ending_ = nullptr;  ///< of a generalized request, which owns it
    Token token_;               ///< of another request
    MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Starts it and leaves it to the progress thread.
Status start_nonblocking(Call& call, MPI_Request* request);

}  // namespace gradcoll
