// call/nonblocking_call.hpp - allreduces that a program completes through a request of MPI:
// over the tree, and through the memory of one host.
#pragma once

#include "call/call.hpp"

namespace gradcoll {

/// Begins an admitted allreduce on the calling thread, which makes its request and need not wait
/// for other ranks, and leaves it to the progress thread. Takes the copy of the input. Errors: of
/// devices, CommPlans::begin() and the executor; transport.
Status start_nonblocking(Call& call, MPI_Request* request);

/// As refuse_allreduce(); goes on by itself, without a request.
void refuse_nonblocking(const Call& call, const Status& why);

/// What is known of a call through the memory of one host, whose buffers are plain.
struct HostStart {
    std::shared_ptr<CommContext> context;
    const char* name = "";  ///< static text, for errors
    CallArguments arguments;
    CallShape shape;
};
/// The same for such a call.
Status start_on_one_host(const HostStart& call, MPI_Request* request);

}  // namespace gradcoll
