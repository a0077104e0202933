// call/nonblocking_call.hpp - allreduces that a program completes through a request of MPI:
// over the tree, and through the memory of one host.
#pragma once

#include "call/call.hpp"

namespace gradcoll {

/// Begins an admitted allreduce on the calling thread, which makes its request and need not wait
/// for other ranks, and leaves the rest to the progress thread. Takes over the call's copy of the
/// input. Errors: those of devices, of CommPlans::begin() and of the executor; transport.
Status start_nonblocking(Call& call, MPI_Request* request);

/// Does what refuse_allreduce() does, without waiting: the operation goes on by itself and has no
/// request.
void refuse_nonblocking(const Call& call, const Status& why);

/// HostStart is what is known of a call through the memory of one host, whose buffers are plain.
struct HostStart {
    std::shared_ptr<CommContext> context;
    const char* name = "";  ///< static text, for errors
    CallArguments arguments;
    CallShape shape;
};
/// Begins such a call, as start_nonblocking() does.
Status start_on_one_host(const HostStart& call, MPI_Request* request);

}  // namespace gradcoll
